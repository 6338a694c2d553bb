"""Folding of letter forms, one character to one character, so that every offset is kept."""

from __future__ import annotations

_ALNUM = {
    code: code - 0xFEE0
    for start, stop in ((0xFF10, 0xFF1A), (0xFF21, 0xFF3B), (0xFF41, 0xFF5B))
    for code in range(start, stop)
}
_SIGNS = {
    ord(wide): narrow for wide, narrow in zip("％＋－．／＠＝＜＞～＄￥＃＆＊：＿＾", "%+-./@=<>~$¥#&*:_^", strict=True)
}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹣"), "-") | dict.fromkeys(map(ord, "〜∼˜"), "~")
_OTHER = {
    ord("∶"): ":",
    ord("˙"): "·",
    ord("•"): "·",
    ord("⁄"): "/",
    ord("∕"): "/",
    ord("✕"): "×",
    ord("✖"): "×",
    ord("﹪"): "%",
    ord("º"): "°",
    ord("˚"): "°",
    0xA0: " ",
    0x3000: " ",
    0x2002: " ",
    0x2003: " ",
    0x2009: " ",
    0x202F: " ",
}
_TRADITIONAL = (
    "點號萬億時週歲層樓間個塊錢雙第無員臺幣圓條場輪級餘約達僅從與於電話碼帳賬證車動飛"
    "機壹貳參隻張頁節輛屆處對顆兩種艙課邊戶縣齡歷馬長開數負勝選後爾測組產鐘準"
)
_SIMPLIFIED = (
    "点号万亿时周岁层楼间个块钱双第无员台币圆条场轮级余约达仅从与于电话码帐账证车动飞"
    "机壹贰叁只张页节辆届处对颗两种舱课边户县龄历马长开数负胜选后尔测组产钟准"
)

_PLAIN: dict[int, int | str] = {**_ALNUM, ord("○"): "〇"}
_MATCHED: dict[int, int | str] = {
    **_PLAIN,
    **_SIGNS,
    **_DASHES,
    **_OTHER,
    **{ord(old): new for old, new in zip(_TRADITIONAL, _SIMPLIFIED, strict=True)},
}


def plain(text: str) -> str:
    """Return full-width letters and digits as ASCII; everything else and the length are unchanged."""
    return text.translate(_PLAIN)


def for_matching(text: str) -> str:
    """Fold signs, dashes and the traditional characters that rules look at, beside letters and digits.

    The length is unchanged. Full-width commas, stops and brackets are kept: they are punctuation, not part of numbers.
    """
    return text.translate(_MATCHED)
