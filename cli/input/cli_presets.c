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
    {"resnet50", "imagenet", 224, 224, NULL, 5, "imagenet", "classifiers of torchvision and timm"},
    {"keras", "inception", 224, 224, NULL, 5, "imagenet",
     "MobileNet, Inception and Xception of Keras"},
    {"yolov2", "0-255", 416, 416, "yolov2", 0, "voc20", "tinyyolov2 of the ONNX model zoo"},
    {"yolov2-coco", "yolo", 416, 416, "yolov2-coco", 0, "coco80",
     "yolov2-coco of the ONNX model zoo"},
    {"yolov3", "yolo", 416, 416, "yolov3", 0, "coco80",
     "yolov3, tiny-yolov3 of the ONNX model zoo and of Darknet"},
    {"yolov4", "yolo", 416, 416, "yolov4", 0, "coco80", "yolov4 of the ONNX model zoo"},
    {"pytorch-yolov4", "0-1", 416, 416, "yolov4", 0, "coco80", "pytorch-YOLOv4"},
    {"yolov5", "yolo", 640, 640, "any", 0, "coco80", "YOLOv5, YOLOv5-seg, YOLOv7"},
    {"yolov6", "yolo", 640, 640, "yolov6", 0, "coco80", "YOLOv6"},
    {"yolov8", "yolo", 640, 640, "any", 0, "coco80",
     "YOLOv8, YOLOv9, YOLO11, YOLO12, YOLO26; also -seg, -pose, -obb"},
    {"yolov10", "yolo", 640, 640, "any", 0, "coco80", "YOLOv10"},
    {"yolonas", "yolo", 640, 640, "any", 0, "coco80", "YOLO-NAS"},
    {"yolox", "yolox", 640, 640, "yolox", 0, "coco80", "YOLOX 0.1.1 and later"},
    {"detr", "detr", 800, 1066, "detr", 0, "coco91", "DETR, YOLOS"},
    {"rtdetr", "0-1", 640, 640, "rtdetr", 0, "coco80", "RT-DETR, D-FINE"},
    {"rfdetr", "detr", 560, 560, "rtdetr", 0, "coco91", "RF-DETR"},
    {"ssd", "detr", 1200, 1200, "any", 0, "coco80", "ssd of the ONNX model zoo"},
    {"torchvision", "0-1", 800, 1066, "torchvision", 0, "coco91",
     "Faster, Mask and Keypoint R-CNN, RetinaNet of torchvision"},
    {"tensorflow", "0-255", 640, 640, "tensorflow", 0, "coco91",
     "detectors of TensorFlow's object detection API"},
    {"ultraface", "ultraface", 240, 320, "ultraface", 0, "face",
     "UltraFace, version-RFB and -slim"},
    {"retinaface", "retinaface", 640, 640, "retinaface", 0, "face", "RetinaFace"},
    {"scrfd", "scrfd", 640, 640, "scrfd", 0, "face", "SCRFD, det_10g, det_500m of insightface"},
    {"yunet", "yolox", 640, 640, "yunet", 0, "face", "YuNet of OpenCV's model zoo"},
    {"blazeface", "blazeface", 128, 128, "blazeface", 0, "face",
     "BlazeFace of MediaPipe, front (short range) and back"},
    {"paddle", "detr", 640, 640, "paddle", 0, "coco80", "PP-YOLOE, PicoDet of PaddleDetection"},
    {"deeplab", "detr", 520, 520, "semantic", 0, "voc21", "DeepLab, FCN, LR-ASPP of torchvision"},
};

enum { N_PRESETS = sizeof(presets) / sizeof(presets[0]) };

static const cli_preset *find_preset(const char *name)
{
    for (int i = 0; i < N_PRESETS; i++)
        if (!strcmp(presets[i].name, name))
            return &presets[i];
    return NULL;
}

int cli_preset_check(const char *name)
{
    const char *closest = NULL;
    if (!strcmp(name, "help") || find_preset(name))
        return 0;
    for (int i = 0; i < N_PRESETS; i++)
        closest = ln_closer_name(name, closest, presets[i].name);
    return closest ? cli_usage("--preset is '%s'; did you mean '%s'?", name, closest)
                   : cli_usage("--preset is '%s'; see lightnet run --preset help", name);
}

void cli_preset_print(void)
{
    char size[32];
    cli_print("%-15s %-11s %-9s %-11s %-8s %s\n", "preset", "preprocess", "size", "task", "labels",
              "models");
    for (const cli_preset *p = presets; p < presets + N_PRESETS; p++) {
        snprintf(size, sizeof(size), "%dx%d", p->height, p->width);
        cli_print("%-15s %-11s %-9s %-11s %-8s %s\n", p->name, p->preprocess, size,
                  p->task ? p->task : "-", p->labels ? p->labels : "-", p->models);
    }
}

const cli_preset *cli_preset_apply(cli_image_options *images)
{
    const cli_preset *const preset = images->preset ? find_preset(images->preset) : NULL;
    if (!preset)
        return NULL;
    if (!images->preprocess)
        images->preprocess = preset->preprocess;
    images->height = preset->height;
    images->width = preset->width;
    return preset;
}
