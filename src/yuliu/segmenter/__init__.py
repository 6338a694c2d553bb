"""Segmentation of arriving text into the pieces that are spoken as one unit."""

from yuliu.segmenter.chunking import Chunking
from yuliu.segmenter.languages import split_segment
from yuliu.segmenter.options import SegmenterOptions, weigh
from yuliu.segmenter.segmenter import Segmenter

__all__ = ("Chunking", "Segmenter", "SegmenterOptions", "split_segment", "weigh")
