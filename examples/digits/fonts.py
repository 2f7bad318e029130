# SPDX-License-Identifier: Apache-2.0
"""Digits as Debian's fonts draw them: FreeType called through ctypes, nothing else needed."""

import ctypes
import glob
import os

import numpy as np

CANVAS = 64  # side of a glyph's image, in pixels
GLYPH = 44  # longer side of the glyph in it

FONT_ROOT = "/usr/share/fonts"

# Debian package -> its files, under FONT_ROOT. The split is by package, so that no style of an
# unseen family is ever trained on; both sides have printed and handwritten digits.
TRAINED_PACKAGES = {
    "fonts-beteckna": ["truetype/beteckna/*.ttf"],
    "fonts-bwht": ["opentype/bwht/*.otf"],
    "fonts-comfortaa": ["truetype/comfortaa/*.ttf"],
    "fonts-courier-prime": ["opentype/courier-prime/*.otf"],
    "fonts-dancingscript": ["opentype/dancingscript/*.otf"],
    "fonts-dejavu-core": ["truetype/dejavu/DejaVuS*.ttf"],
    "fonts-dkg-handwriting": ["truetype/fifthhorseman/*.ttf"],
    "fonts-dosis": ["opentype/dosis/*.otf"],
    "fonts-dustin": ["truetype/dustin/[Dd]*.ttf", "truetype/dustin/It_*.ttf"],
    "fonts-essays1743": ["truetype/essays1743/*.ttf"],
    "fonts-femkeklaver": ["truetype/femkeklaver/*.ttf"],
    "fonts-georgewilliams": ["truetype/fonts-georgewilliams/*.ttf"],
    "fonts-gnutypewriter": ["truetype/gnutypewriter/*.ttf"],
    "fonts-humor-sans": ["truetype/humor-sans/*.ttf"],
    "fonts-inconsolata": ["truetype/inconsolata/*.otf"],
    "fonts-jura": ["opentype/jura/*.otf"],
    "fonts-kristi": ["truetype/kristi/*.ttf"],
    "fonts-liberation2": ["truetype/liberation2/*.ttf"],
    "fonts-lobstertwo": ["opentype/lobstertwo/*.otf"],
    "fonts-oldstandard": ["truetype/fonts-oldstandard/*.ttf"],
    "fonts-opendyslexic": ["opentype/opendyslexic/*.otf"],
    "fonts-rufscript": ["truetype/rufscript/*.ttf"],
    "fonts-sjfonts": ["truetype/sjfonts/*.ttf"],
    "fonts-tiresias": ["truetype/tiresias/tiresias_*.ttf"],
    "fonts-tlwg-purisa-ttf": ["truetype/tlwg/Purisa*.ttf"],
    "fonts-yanone-kaffeesatz": ["opentype/yanone-kaffeesatz/*.otf"],
}

UNSEEN_PACKAGES = {
    "fonts-averia-sans-gwf": ["truetype/averia-gwf/AveriaSans*.ttf"],
    "fonts-breip": ["truetype/breip/Breip.ttf"],
    "fonts-cabin": ["opentype/cabin/*.otf"],
    "fonts-comic-neue": ["opentype/comic-neue/*.otf"],
    "fonts-go": ["fonts-go/*.ttf"],
    "fonts-kaushanscript": ["opentype/kaushanscript/*.otf"],
    "fonts-klaudia-berenika": ["truetype/klaudia-berenika/*.ttf"],
    "fonts-leckerli-one": ["truetype/leckerli-one/*.ttf"],
    "fonts-osifont": ["truetype/osifont/*.ttf"],
    "fonts-smc-chilanka": ["opentype/malayalam/Chilanka*.otf"],
    "fonts-tomsontalks": ["truetype/tomsontalks/*.ttf"],
    "fonts-tuffy": ["truetype/tuffy/Tuffy*.ttf"],
}


class _Bitmap(ctypes.Structure):
    """FT_Bitmap."""

    _fields_ = [
        ("rows", ctypes.c_uint),
        ("width", ctypes.c_uint),
        ("pitch", ctypes.c_int),
        ("buffer", ctypes.POINTER(ctypes.c_ubyte)),
        ("num_grays", ctypes.c_ushort),
        ("pixel_mode", ctypes.c_ubyte),
        ("palette_mode", ctypes.c_ubyte),
        ("palette", ctypes.c_void_p),
    ]


class _GlyphSlot(ctypes.Structure):
    """FT_GlyphSlotRec up to its bitmap."""

    _fields_ = [
        ("library", ctypes.c_void_p),
        ("face", ctypes.c_void_p),
        ("next", ctypes.c_void_p),
        ("glyph_index", ctypes.c_uint),
        ("generic", ctypes.c_void_p * 2),
        ("metrics", ctypes.c_long * 8),
        ("linear_advance", ctypes.c_long * 2),
        ("advance", ctypes.c_long * 2),
        ("format", ctypes.c_int),
        ("bitmap", _Bitmap),
    ]


class _Face(ctypes.Structure):
    """FT_FaceRec up to its glyph slot."""

    _fields_ = [
        ("num_faces", ctypes.c_long),
        ("face_index", ctypes.c_long),
        ("face_flags", ctypes.c_long),
        ("style_flags", ctypes.c_long),
        ("num_glyphs", ctypes.c_long),
        ("family_name", ctypes.c_char_p),
        ("style_name", ctypes.c_char_p),
        ("num_fixed_sizes", ctypes.c_int),
        ("available_sizes", ctypes.c_void_p),
        ("num_charmaps", ctypes.c_int),
        ("charmaps", ctypes.c_void_p),
        ("generic", ctypes.c_void_p * 2),
        ("bbox", ctypes.c_long * 4),
        ("units_per_em", ctypes.c_ushort),
        ("vertical_metrics", ctypes.c_short * 7),
        ("glyph", ctypes.POINTER(_GlyphSlot)),
    ]


class Font:
    """One font file; `Font(path).glyph("7")` is the image of a character."""

    # FT_LOAD_NO_HINTING | FT_LOAD_RENDER | FT_LOAD_NO_BITMAP: grey outlines at any size.
    LOAD_FLAGS = 2 | 4 | 8

    _lib = None
    _library = ctypes.c_void_p()

    def __init__(self, path):
        if Font._lib is None:
            Font._lib = ctypes.CDLL("libfreetype.so.6")
            self._check(Font._lib.FT_Init_FreeType(ctypes.byref(Font._library)), "FreeType")
        self._path = path
        self._face = ctypes.POINTER(_Face)()
        self._check(
            self._lib.FT_New_Face(
                self._library, os.fsencode(path), ctypes.c_long(0), ctypes.byref(self._face)
            ),
            path,
        )

    def close(self):
        self._lib.FT_Done_Face(self._face)

    def glyph(self, char):
        """`char`, centred, its longer side about GLYPH: [CANVAS, CANVAS] uint8, ink 255."""
        longer_side = max(self._render(char, 64).shape)
        ink = self._render(char, max(1, round(64 * GLYPH / longer_side)))
        ink = ink[:CANVAS, :CANVAS]
        top, left = (CANVAS - ink.shape[0]) // 2, (CANVAS - ink.shape[1]) // 2
        picture = np.zeros((CANVAS, CANVAS), np.uint8)
        picture[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
        return picture

    def _render(self, char, pixel_size):
        """The ink of `char` alone, [rows, width] uint8."""
        self._check(self._lib.FT_Set_Pixel_Sizes(self._face, 0, pixel_size), self._path)
        index = self._lib.FT_Get_Char_Index(self._face, ctypes.c_ulong(ord(char)))
        if index == 0:
            raise ValueError(f"{self._path}: has no '{char}'")
        self._check(self._lib.FT_Load_Glyph(self._face, index, self.LOAD_FLAGS), self._path)
        bitmap = self._face.contents.glyph.contents.bitmap
        if bitmap.rows == 0 or bitmap.width == 0:
            raise ValueError(f"{self._path}: no ink in '{char}'")
        rows = np.ctypeslib.as_array(bitmap.buffer, (bitmap.rows, bitmap.pitch))
        return rows[:, : bitmap.width].copy()

    @staticmethod
    def _check(error, what):
        if error:
            raise OSError(f"{what}: FreeType error {error}")


def digit_glyphs(packages):
    """All digits of all fonts of `packages`: images [n, CANVAS, CANVAS] uint8 and labels [n]."""
    pictures, labels = [], []
    for path in font_files(packages):
        font = Font(path)
        pictures += [font.glyph(str(digit)) for digit in range(10)]
        labels += range(10)
        font.close()
    return np.stack(pictures), np.array(labels)


def font_files(packages):
    """The font files of `packages`; one that is not installed is an error that names it."""
    files = []
    for package, patterns in packages.items():
        found = [f for p in patterns for f in glob.glob(os.path.join(FONT_ROOT, p))]
        if not found:
            raise SystemExit(f"fonts: {package} is not installed; see README.md")
        files += sorted(found)
    return files
