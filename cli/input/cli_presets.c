// SPDX-License-Identifier: Apache-2.0
// --preset: the table of known families of models, and the names of their classes.

#include "input/cli_presets.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

// Sources: the repositories of the models, as in lightnet/vision/ln_detect_forms.c; docs/models.md.
static const cli_preset presets[] = {
    {"resnet50", "imagenet", NULL, 5, NULL, "classifiers of torchvision and timm"},
    {"keras", "inception", NULL, 5, NULL, "MobileNet, Inception and Xception of Keras"},
    {"yolov2", "0-255", "yolov2", 0, "voc20", "tinyyolov2 of the ONNX model zoo"},
    {"yolov2-coco", "yolo", "yolov2-coco", 0, "coco80", "yolov2-coco of the ONNX model zoo"},
    {"yolov3", "yolo", "yolov3", 0, "coco80",
     "yolov3, tiny-yolov3 of the ONNX model zoo and of Darknet"},
    {"yolov4", "yolo", "yolov4", 0, "coco80", "yolov4 of the ONNX model zoo"},
    {"pytorch-yolov4", "0-1", "yolov4", 0, "coco80", "pytorch-YOLOv4"},
    {"yolov5", "yolo", "any", 0, "coco80", "YOLOv5, YOLOv5-seg, YOLOv7"},
    {"yolov6", "yolo", "yolov6", 0, "coco80", "YOLOv6"},
    {"yolov8", "yolo", "any", 0, "coco80",
     "YOLOv8, YOLOv9, YOLO11, YOLO12, YOLO26; also -seg, -pose"},
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
    cli_print("%-15s %-11s %-11s %-7s %s\n", "preset", "preprocess", "task", "labels", "models");
    for (const cli_preset *p = presets; p < presets + N_PRESETS; p++)
        cli_print("%-15s %-11s %-11s %-7s %s\n", p->name, p->preprocess, p->task ? p->task : "-",
                  p->labels ? p->labels : "-", p->models);
}

// Names of classes

static const char coco80[] =
    "person\nbicycle\ncar\nmotorcycle\nairplane\nbus\ntrain\ntruck\nboat\ntraffic light\n"
    "fire hydrant\nstop sign\nparking meter\nbench\nbird\ncat\ndog\nhorse\nsheep\ncow\nelephant\n"
    "bear\nzebra\ngiraffe\nbackpack\numbrella\nhandbag\ntie\nsuitcase\nfrisbee\nskis\nsnowboard\n"
    "sports ball\nkite\nbaseball bat\nbaseball glove\nskateboard\nsurfboard\ntennis racket\n"
    "bottle\nwine glass\ncup\nfork\nknife\nspoon\nbowl\nbanana\napple\nsandwich\norange\nbroccoli\n"
    "carrot\nhot dog\npizza\ndonut\ncake\nchair\ncouch\npotted plant\nbed\ndining table\ntoilet\n"
    "tv\nlaptop\nmouse\nremote\nkeyboard\ncell phone\nmicrowave\noven\ntoaster\nsink\n"
    "refrigerator\nbook\nclock\nvase\nscissors\nteddy bear\nhair drier\ntoothbrush";

// With the numbers of COCO's annotations, 1 to 90, of which 10 are unused.
static const char coco91[] =
    "N/A\nperson\nbicycle\ncar\nmotorcycle\nairplane\nbus\ntrain\ntruck\nboat\ntraffic light\n"
    "fire hydrant\nN/A\nstop sign\nparking meter\nbench\nbird\ncat\ndog\nhorse\nsheep\ncow\n"
    "elephant\nbear\nzebra\ngiraffe\nN/A\nbackpack\numbrella\nN/A\nN/A\nhandbag\ntie\nsuitcase\n"
    "frisbee\nskis\nsnowboard\nsports ball\nkite\nbaseball bat\nbaseball glove\nskateboard\n"
    "surfboard\ntennis racket\nbottle\nN/A\nwine glass\ncup\nfork\nknife\nspoon\nbowl\nbanana\n"
    "apple\nsandwich\norange\nbroccoli\ncarrot\nhot dog\npizza\ndonut\ncake\nchair\ncouch\n"
    "potted plant\nbed\nN/A\ndining table\nN/A\nN/A\ntoilet\nN/A\ntv\nlaptop\nmouse\nremote\n"
    "keyboard\ncell phone\nmicrowave\noven\ntoaster\nsink\nrefrigerator\nN/A\nbook\nclock\nvase\n"
    "scissors\nteddy bear\nhair drier\ntoothbrush";

#define VOC20                                                                                \
    "aeroplane\nbicycle\nbird\nboat\nbottle\nbus\ncar\ncat\nchair\ncow\ndining table\ndog\n" \
    "horse\nmotorbike\nperson\npotted plant\nsheep\nsofa\ntrain\ntv monitor"

static const struct {
    const char *name, *labels;
} lists[] = {{"coco80", coco80},
             {"coco91", coco91},
             {"voc20", VOC20},
             {"voc21", "background\n" VOC20},
             {"face", "face"}};

const char *cli_preset_labels(const char *list)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (list && !strcmp(lists[i].name, list))
            return lists[i].labels;
    return NULL;
}
