"""Mandarin Chinese, with the front end of the voices that speak the Baker phone set."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from yuliu.text.emoji_names import mandarin_name
from yuliu.text.formulas import MANDARIN_COLUMN, spoken_formula
from yuliu.text.languages.definition import Language, MarkupWords

if TYPE_CHECKING:
    from yuliu.text.frontend import FrontEnd
    from yuliu.text.languages.definition import UnknownWords


_NOT_JAPANESE = frozenset(
    "们这吗呢吧么还说个为时间问谁很哪你她它咱啊呀欢见观过进远运动对开关车东长门马鸟鱼风飞习书买卖头实让认识话语课谈请谢"
    "读谁该详误调谓预领题颜额顾颗页项顺须饭馆馒饮饼钱铁银错锅键镜队阳阴际陆险难预难鸡鸭龙齐龄龟么怎从众优伤伟传净几"
    "凤击刘刚创别务劳势华单卫厂历压厅县发变叹听启员响哟唤喷团园围图圆场坏块坚坛垫复够夺奋奖妈妇娱孙宁审宽宾"
    "爱乐亲师张杨陈吴赵钟钢锁链闻闹闪闲阅阔韩频类驾骑骂验鲁鲜鸣盐监种稳穷笔简纪纯纸级线练组细织终经结给络统继续维绿编"
    "罗职联脑脸节苏药获萨虽虾补规视览觉订计训议讲许论设访证评诉词译试诗诚询诺贝负财责败货质贩购贵贴费贺资赏赛赢跃转轮"
    "软轻载较辆输边达迁迟适选递逻遗邮邻酱释针钓铃销镇雾"
)
"""Characters of simplified Chinese, and of its commonest function words, that Japanese does not write."""
_PRONOUNS = re.compile(
    r"[我你您]们?(?![々慢流等輩家国社欲執達])[\u4e00-\u9fff]"
    r"|[他她]们?(?![人社国者方界校県府店事言意力])[\u4e00-\u9fff]"
)
"""A pronoun with a Chinese word right behind it; Japanese puts a particle there."""


def is_plainly_chinese(han: str) -> bool:
    """Return whether a run of Chinese characters is Chinese beyond doubt, not Japanese."""
    return not _NOT_JAPANESE.isdisjoint(han) or _PRONOUNS.search(han) is not None


def _front_end(unknown_words: UnknownWords | None) -> FrontEnd:
    del unknown_words  # every character is in its tables
    from yuliu.text.zh import Mandarin

    return Mandarin()


def _pinyin_problem(reading: str) -> str:
    from yuliu.text.zh.hints import parse_pinyin

    return "" if parse_pinyin(reading) else "holds no pinyin syllable with tone, such as hang2 ye4"


MANDARIN = Language(
    "zh",
    "Chinese (Mandarin)",
    scripts=("Hani",),
    sample="你好，今天天气怎么样？",
    tags=("cmn", "zho", "chi"),
    front_end=_front_end,
    recognise=is_plainly_chinese,
    alphabets={"pinyin": _pinyin_problem},
    stand_in="字",
    markup=MarkupWords(
        code_block="代码略。",
        inline_code="代码",
        formula="公式",
        comma="，",
        has_spaces=False,
        emoji_name=mandarin_name,
        spoken_formula=partial(spoken_formula, column=MANDARIN_COLUMN),
    ),
)
