// SPDX-License-Identifier: Apache-2.0
// --preset: the table of known families of models.

#include "input/cli_presets.h"

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

// Sources: the repositories of the models, as in lightnet/vision/ln_detect_forms.c; docs/models.md.
static const cli_preset presets[] = {
    {"resnet50", "imagenet", NULL, 5, "imagenet", "classifiers of torchvision and timm"},
    {"keras", "inception", NULL, 5, "imagenet", "MobileNet, Inception and Xception of Keras"},
    {"yolov2", "0-255", "yolov2", 0, "voc20", "tinyyolov2 of the ONNX model zoo"},
    {"yolov2-coco", "yolo", "yolov2-coco", 0, "coco80", "yolov2-coco of the ONNX model zoo"},
    {"yolov3", "yolo", "yolov3", 0, "coco80",
     "yolov3, tiny-yolov3 of the ONNX model zoo and of Darknet"},
    {"yolov4", "yolo", "yolov4", 0, "coco80", "yolov4 of the ONNX model zoo"},
    {"pytorch-yolov4", "0-1", "yolov4", 0, "coco80", "pytorch-YOLOv4"},
    {"yolov5", "yolo", "any", 0, "coco80", "YOLOv5, YOLOv5-seg, YOLOv7"},
    {"yolov6", "yolo", "yolov6", 0, "coco80", "YOLOv6"},
    {"yolov8", "yolo", "any", 0, "coco80",
     "YOLOv8, YOLOv9, YOLO11, YOLO12, YOLO26; also -seg, -pose, -obb"},
    {"yolov10", "yolo", "any", 0, "coco80", "YOLOv10"},
    {"yolonas", "yolo", "any", 0, "coco80", "YOLO-NAS"},
    {"yolox", "yolox", "yolox", 0, "coco80", "YOLOX 0.1.1 and later"},
    {"detr", "detr", "detr", 0, "coco91", "DETR, YOLOS"},
    {"rtdetr", "0-1", "rtdetr", 0, "coco80", "RT-DETR, D-FINE"},
    {"rfdetr", "detr", "rtdetr", 0, "coco91", "RF-DETR"},
    {"ssd", "detr", "any", 0, "coco80", "ssd of the ONNX model zoo"},
    {"torchvision", "0-1", "torchvision", 0, "coco91",
     "Faster, Mask and Keypoint R-CNN, RetinaNet of torchvision"},
    {"tensorflow", "0-255", "tensorflow", 0, "coco91",
     "detectors of TensorFlow's object detection API"},
    {"ultraface", "ultraface", "ultraface", 0, "face", "UltraFace, version-RFB and -slim"},
    {"retinaface", "retinaface", "retinaface", 0, "face", "RetinaFace"},
    {"scrfd", "scrfd", "scrfd", 0, "face", "SCRFD, det_10g, det_500m of insightface"},
    {"yunet", "yolox", "yunet", 0, "face", "YuNet of OpenCV's model zoo"},
    {"blazeface", "blazeface", "blazeface", 0, "face",
     "BlazeFace of MediaPipe, front (short range) and back"},
    {"paddle", "detr", "paddle", 0, "coco80", "PP-YOLOE, PicoDet of PaddleDetection"},
    {"deeplab", "detr", "semantic", 0, "voc21", "DeepLab, FCN, LR-ASPP of torchvision"},
};

enum { N_PRESETS = sizeof(presets) / sizeof(presets[0]) };

const cli_preset *cli_preset_find(const char *name)
{
    for (int i = 0; i < N_PRESETS; i++)
        if (!strcmp(presets[i].name, name))
            return &presets[i];
    return NULL;
}

int cli_preset_check(const char *name)
{
    const char *closest = NULL;
    if (!strcmp(name, "help") || cli_preset_find(name))
        return 0;
    for (int i = 0; i < N_PRESETS; i++)
        closest = ln_closer_name(name, closest, presets[i].name);
    return closest ? cli_usage("--preset is '%s'; did you mean '%s'?", name, closest)
                   : cli_usage("--preset is '%s'; see lightnet run --preset help", name);
}

void cli_preset_print(void)
{
    cli_print("%-15s %-11s %-11s %-8s %s\n", "preset", "preprocess", "task", "labels", "models");
    for (const cli_preset *p = presets; p < presets + N_PRESETS; p++)
        cli_print("%-15s %-11s %-11s %-8s %s\n", p->name, p->preprocess, p->task ? p->task : "-",
                  p->labels ? p->labels : "-", p->models);
}
