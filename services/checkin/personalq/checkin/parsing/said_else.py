"""Words that are said for others which are read: "I'm after the", "at some point last week"."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon

_PEOPLE = f"({'|'.join(sorted(lexicon.words('kinsfolk')))}|client|customer|boss|team|kids|children)"
_ASKING_US = (
    "(colleague|toddler|teacher|neighbou?r|friend|manager|grandma|granny|grandpa|nan|editor)"
)
_THE_ONE = r"the [\w-]+ (ones?|version|model|checkpoint|build)"
_MONTHS = f"({'|'.join(lexicon.calendar('months'))})"
_COLOURS = f"({'|'.join(sorted(lexicon.colours()))})"
_PART = (
    r"(?!([\w-]+ )?(training|train|name|owner|maker|author|creator|colou?r|style|look|version|"
    r"date|card|description|title|pictures|photos|images|shots|data|number|trigger|usage|"
    r"checkpoint|background)\b)[\w-]+( [\w-]+)?"
)
"""What somebody or something has, of which more is told."""
_HOW = (
    r"((all|quite|very|really|now|still|completely) )?(?P<how>broken|torn|bent|worn|missing|"
    r"(?!(made|based|used|trained|added|listed|named|seven|eleven|often|even|garden|kitchen|"
    r"chicken|children|golden|wooden|woolen)\b)[a-z]{3,}(ed|en))"
    r"(?= ?($|[,.;:!?)]| (and|in|on|at|please)\b))"
)
_BEHIND_ONE = (
    "("
    + "|".join(rf"(?<=\b{word} )" for word in ("one", "version", "model", "build", "checkpoint"))
    + ")"
)
_STARTS = r"(^|(?<=[.;:!?] ))"
SAID_ELSE = (
    (compile_form(rf"(?<=\w, )(in )?(?P<c>{_COLOURS}) (fabric|upholstery|walls|hull|suit|paintwork|"
                  r"bodywork|casing|clothes|outfit|plumage|fur)(?= ?($|[,.;:!?)]))"),
     r"the \g<c> one"),
    (compile_form(r"^that (?=([\w-]+ )?[\w-]+ ?, (the|it|in|on|at|from|with|by|my)\b)"
                  r"(?!\w+[^su]s\b)(?!(one|is|was|has|looks?|would|will|should|said|"
                  r"being|way|time|makes?|means?)\b)"), "the "),
    (compile_form(r" \((bot|the bot|ai|assistant)\)(?= )"), ""),
    (compile_form(r"^(i|we) (recall|remember|know|think|believe|seem to remember)( that)? "
                  r"(?P<x>(the|my|our) [\w-]+( [\w-]+)?) (has|had) "
                  r"(?=(an?|the|its|two|three|[a-z]+s)\b)"),
     r"\g<x> that has "),
    (compile_form(r"(?<!\w)(from|of|among|out of) (all )?(the|our|my) (?P<x>[\w-]+( [\w-]+)?) "
                  r"(versions|checkpoints|models|builds) ?,? (take|use|pick|choose) "
                  r"(the )?(number |no\.? |#)?(?P<n>\d{1,3})"
                  r"(?= ?($|[,.;:!?])| (and|for|please)\b)"),
     r"version \g<n> of the \g<x>"),
    (compile_form(r"^(please )?put (our|the|my) workhorse to work ?[:,–-] ?(?=the\b)"), ""),
    (compile_form(rf"(?<!\w)(?P<i>(i|we) (last )?used) (?P<x>(an?|the|one|our|my) [\w-]+) "
                  rf"(?P<like>in {_COLOURS}|with (an?|the) [\w-]+|that('s| is| was) {_COLOURS}) "
                  r"(?=(last|this|on|in|yesterday|earlier|two|three|a) )"),
     r"\g<x> \g<like> that \g<i> "),
    (compile_form(r"(?<!\w)(?P<has>(with|has|have|wears|wearing) [\w' -]{2,40}?) as well as "
                  r"(?=(the|an?|its|his|her|two|some) )"), r"\g<has> and "),
    (compile_form(r"(?<=\w) and at the same time (?=[a-z])"), " and "),
    (compile_form(rf"(?<=[.;:,] )(the )?colou?r( is|:| should be)? (?P<c>{_COLOURS})"
                  r"(?= ?($|[,.;:!?)]))"), r"the \g<c> one"),
    (compile_form(r"(?<!\w)place of training(?=(:| is)? [a-z])"), "training place"),
    (compile_form(r"(?<=[,;.] )subject:? (?=(the )?[a-z]+( [a-z]+)? ?($|[,.;]))"), ""),
    *(
        (compile_form(rf"(?<!\w)which (?P<x>[\w-]+( [\w-]+)?) did (i|we) {do}"
                      r"(?= ?[?,]| (in|at|on|by|near|under|from|during|since|before|after|this|"
                      r"yesterday|downtown|outdoors|20\d\d)\b)"),
         rf"the \g<x> we {did}")
        for do, did in (("train", "trained"), ("make", "made"), ("build", "built"),
                        ("teach", "taught"), ("shoot", "shot"))
    ),
    (compile_form(r"(?<!\w)which (?P<x>[\w-]+( [\w-]+)?) (did|have) (i|we) (do|done|draw|drawn|"
                  r"paint(ed)?|render(ed)?) (?=(in|as|with) )"), r"the \g<x> done "),
    (compile_form(r"^the (?P<x>([\w-]+ ){0,2}[\w-]+) (is|are) (what|how) (i|we|you) ('d |would |"
                  r"can )?(recogni[sz]e|know|tell|remember|spot|identify) "
                  r"(?P<y>(that|the|my|our) [\w-]+( (?!by\b)[\w-]+)?)( by)?(?= ?($|[,.;:!?]))"),
     r"\g<y> with the \g<x>"),
    (compile_form(rf"^((the|our|my) )?({_PEOPLE}|{_ASKING_US}) (wants?|needs?|would like|"
                  r"would love|wishes for|ordered|asks? for|asked for) "
                  r"(?=(the|my|our|that|an?)\b)"), "I want "),
    (compile_form(r"(?<=[:;.,] )(but )?it (should|ought to|needs to) have (?=(the|its)\b)"),
     "the one that has "),
    (compile_form(r"(?<=\w )and (should )?come from (?=[a-z])"), "and comes from "),
    (compile_form(r"(?<!\w)church[ -]window (glass|style|look|panes?)(?!\w)"), "stained glass"),
    (compile_form(rf"{_BEHIND_ONE}(that|which) (opened|started|began) (the )?(year )?"
                  r"(?P<y>20\d\d)(?= ?($|[,.;:!?)]))"), r"that was the first of \g<y>"),
    (compile_form(rf"{_BEHIND_ONE}(that|which) (closed|ended|rounded off) (the )?(year )?"
                  r"(?P<y>20\d\d)(?= ?($|[,.;:!?)]))"), r"that was the last of \g<y>"),
    (compile_form(rf"(?<!\w)(?P<y>(last|this) year), in (?P<m>{_MONTHS})(?!\w)"),
     r"in \g<m> \g<y>"),
    (compile_form(rf"(?<!\w)(?P<p>between|from) the (start|beginning) of (?P<a>{_MONTHS})"
                  rf"(?P<ay> 20\d\d)? (?P<q>and|to|until) the end of (?P<b>{_MONTHS})(?!\w)"),
     r"\g<p> \g<a>\g<ay> \g<q> \g<b>"),
    (compile_form(rf"(?<!\w)(?P<a>(between|from) ({_MONTHS}) \d{{1,2}}(st|nd|rd|th)?,? 20\d\d), "
                  r"(?=(and|to|until)\b)"), r"\g<a> "),
    (compile_form(r"(?<!\w)used by (me|us|myself|ourselves) "
                  r"(?=(on|in|at|during|this|last|yesterday|today|earlier|since|before)\b)"),
     "used "),
    (compile_form(rf"{_STARTS}my last (use|run|usage) (of (it|that one|this one|this|that) )?"
                  r"(was|dates (back )?(to|from)|goes back to|is from|took place) "),
     "I last used it "),
    (compile_form(r"(?<!\w)(i|we)( have not|'ve not| haven't) (touched|used|opened|run|needed) "
                  r"(it|that|this|him|her|them|that one|this one) since ((using|running|opening) "
                  r"(it|him|her|them)|(i|we) (last )?(used|ran) it) (?=(in|on|at|this|last|"
                  rf"yesterday|early|late|around|back|mid|{_MONTHS}|20\d\d)\b)"),
     "I last used it "),
    (compile_form(r"(?<!\w)(i'm|i am|we're|we are) after (?=(last|this) \w+'s\b|yesterday's\b)"),
     "I want "),
    (compile_form(r"(?<= ago), on (mon|tues|wednes|thurs|fri|satur|sun)day, (?=(i|we)\b)"), " "),
    (compile_form(r"(?<!\w)most-(run|rendered|played)(?!\w)"), "most-used"),
    (compile_form(r"(?<!\w)(run|rendered|generated|called up) more times than (any|all|the) "
                  r"(other|others|rest)( of them| one)?(?!\w)"), "used the most"),
    (compile_form(r"(?<= uses) (on|to|under|by|against) (its|their|his|her) (counter|name|belt|"
                  r"record|credit)(?= than\b| ?($|[,.;:!?]))"), ""),
    (compile_form(r"(?<!\w)by our (?=(interns|trainees|designers|artists|students)\b)"),
     "by the "),
    (compile_form(r"[.;!?] (you (can|could|will|'ll|may) )(tell|know|recogni[sz]e|spot|identify|"
                  r"pick out) (it|him|her|them|that one)( apart)? by "
                  r"(?=(the|its|his|her|their|an?) )"), ", the one with "),
    (compile_form(rf"{_STARTS}my (choice|pick|preference|favou?rite) (is|would be|goes to) "
                  r"the (?P<how>[\w'-]+( [\w'-]+)?) (type|kind|sort|one|variety|model)"
                  r"(?= ?[.,;:!?]| ?$)"), r"I want the \g<how> one"),
    (compile_form(rf"{_STARTS}it (has|needs|ought|had better) to look "
                  r"(?=(sketched|painted|hand-drawn|pencil-drawn|photographic)"
                  r"(?= ?($|[.,;:!?])))"), "in the style: "),
    (compile_form(r"^which (?P<x>[\w-]+( [\w-]+)?) did (i|we) ((last|most recently) use|use "
                  r"(last|most recently))(?= ?[?.,!])"), r"the \g<x> I used last"),
    (compile_form(r"^which (?P<x>[\w-]+( [\w-]+)?) (came|was made|was trained) "
                  r"(?P<n>first|second|third|fourth|fifth|last)(?= ?[?.,!])"),
     r"the \g<x> that was made \g<n>"),
    (compile_form(r"(?<!\w)(from|by) the (people|folks|guys|team) (of|at|over at|from) "
                  r"(?=[a-z])"), "by "),
    (compile_form(r"[.;!?] (i'd like|i would like|i want|i need|it's|it is|this is|make it) "
                  r"(it as )?(an?|the|my|our|his|her) (new )?(wallpaper|background|lock screen|"
                  r"screensaver|home screen|desktop picture) (for|on|of) (my|our|the|his|her) "
                  r"(phone|desktop|laptop|tablet|computer|pc|screen)(?= ?($|[.!]))"), ""),
    (compile_form(r"(?<=, )the first of (its|his|her) kind(?= ?($|[.,;!?]))"),
     "the very first one"),
    (compile_form(r"(?<!\w)(?P<w>(that|which|who) (wears|sports|carries|holds)) one "
                  r"(?=(?!of\b|that\b|which\b)[a-z])"), r"\g<w> a "),
    (compile_form(r"(?<=\w )(clad|attired|garbed|togged up|kitted out|rigged out) (all )?in "
                  r"(?=[a-z])"), "dressed in "),
    (compile_form(r"(?<!\w)training wheels(?!\w)"), "training-wheels"),
    (compile_form(r"(?<=, )environment (?=[\w-]+( [\w-]+)? ?($|[,.;]))"), "environment: "),
    (compile_form(r"(?<=\w )(that |which )?looks? (modell?ed|sculpted|moulded|molded|"
                  r"kneaded|shaped) "
                  r"(?=(in|from|out of) (clay|plasticine|putty|polymer clay)(?!\w))"), "done "),
    (compile_form(r"(?<=\w) goes (in|into|on|onto) (the|our|my) next (picture|image|poster|cover|"
                  r"page|banner|card)(?= ?($|[,.;:!?]))"), ""),
    (compile_form(rf"{_STARTS}((a|an|another) )?(tiny|small|little|funny|quick|silly|weird|"
                  r"odd|tricky|simple|easy|fun|last|final) (one|request|wish) ?[:–-] "
                  r"(?=(an?|the|my|our)\b)"), ""),
    (compile_form(rf"{_STARTS}let's (open|start|begin|end|close) (the|our|this|my) (story|book|"
                  r"comic|chapter|film|video|show|slides?|deck) with (?=(an?|the|my|our)\b)"),
     "show "),
    (compile_form(rf"{_STARTS}(book|dust) jacket (?=(with|showing|of) (an?|the|my|our)\b)"),
     "book cover "),
    (compile_form(rf"{_STARTS}(the|our|my) ([\w-]+ )?({_PEOPLE}|{_ASKING_US}) "
                  r"(has |have )?(signed off on|settled on|went with|opted for|approved) "
                  r"(?=(the|our|my)\b)"), "use "),
    (compile_form(r"(?<!\w)bird('s|s)?[\s-]eye view(?!\w)"), "view from above"),
    (compile_form(r"(?<!\w)worm('s|s)?[\s-]eye view(?!\w)"), "view from below"),
    (compile_form(rf"{_STARTS}you won't believe what i (dreamt|dreamed)( last night)? ?[:,–-] ?"),
     ""),
    (compile_form(r"(?<=\w )whose training (shots|pictures|photos|images) (are|were|come|came) "
                  r"(from )?((up|down|out) )?(?=(in|on|at|by|near|under) )"),
     "trained on pictures taken "),
    (compile_form(r"(?<!\w)(with )?the (lowest|smallest|fewest) (non[ -]?zero (usage|use count|"
                  r"number of uses|uses)|(usage|use count|number of uses|uses) above (zero|0))"
                  r"(?!\w)"), "that is least used and was used at least once"),
    (compile_form(r"(?<=\bused least),? ?\(?but (at least once|used(?= ?($|[.,;:!?)])))\)?(?!\w)"),
     " that was used at least once"),
    (compile_form(r"(?<=\w )(among|of|out of) (those|the ones|them|all) (that (were|are) )?used "
                  r"at all(?!\w)"), "that was used at least once"),
    (compile_form(r"(?<!\w)between the (?P<a>\d{1,2}(st|nd|rd|th)) and the "
                  r"(?P<b>\d{1,2}(st|nd|rd|th)) of (?P<m>(this|last) month)(?!\w)"),
     r"between the \g<a> of \g<m> and the \g<b> of \g<m>"),
    (compile_form(r"((?<=\bi )|(?<=\bwe ))wish (?=to (see|have|get|show|use) )"), "want "),
    (compile_form(rf"{_STARTS}think of (?=an? [\w' -]{{2,60}}[.;!?] [^.]*\b(one|version|model|"
                  r"build|checkpoint)\b)"), "imagine "),
    (compile_form(rf"{_STARTS}(my|our) ((all-time|absolute|personal) )?favou?rite is "
                  r"(?=(the|our|my|[\w-]+( [\w-]+)?'s) [^.;:!?]*\b(that|which|who|with|of|from|"
                  r"made|trained|dressed|wearing|in)\b)"), "I want "),
    (compile_form(rf"(?<=\w )whose (?P<part>{_PART}) is {_HOW}"), r"with a \g<how> \g<part>"),
    (compile_form(rf"(?<=\w )whose (?P<part>{_PART}) are {_HOW}"), r"with \g<how> \g<part>"),
    (compile_form(rf"(?<![\w'-])(?P<colour>{_COLOURS})[\s-]ish(?![\w'])"), r"\g<colour>"),
    (compile_form(r"(?<=\w )(?<!one )(?<!build )(?<!version )(?<!model )(?<!checkpoint )"
                  r"(made|trained|built|created|finished) (just |right |directly )?"
                  r"before (the )?(current )?(latest|newest)(?= ?($|[,.;:!?)]))"),
     "one before the latest"),
    (compile_form(r"(?<=\w )(that|which)( has| had|'s)? lost (one of )?its "
                  r"(?!(way|mind|temper|balance|owner|place|turn|shine|charm|colou?r|luster|nerve|"
                  r"job|mother|father|parents?|family|home|friends?|grip|footing|voice|appetite|"
                  r"memory|race|game|fight|cool|sense|touch|edge|value)\b)"),
     "with a missing "),
    (compile_form(r"(?<!\w)as (if|though) ((it were|it was|it had been) )?"
                  r"((made|painted|drawn|printed|done) by (?!(magic|chance|accident|itself|hand|"
                  r"an?|the|my|our|his|her|some\w*)\b)(?=\w)|"
                  r"by (?=(hokusai|hiroshige|monet|van gogh|warhol|lichtenstein|picasso|dal[ií]|"
                  r"rembrandt|vermeer|klimt|mucha|ghibli|miyazaki|disney)(?!\w)))"),
     "in the style of "),
    (compile_form(r"^today,? (?=(i|we)('d| would| want| need| am|'m| fancy|'re| are)\b)"), ""),
    (compile_form(r"(?<=\w )((that|which) )?(you|one|anybody|anyone|people)('d| would| could| "
                  r"might) (easily )?(take|mistake) for an? (real |actual )?(photo(graph)?|"
                  r"camera shot)(?!\w)"), "that is photorealistic"),
    (compile_form(r"(?<=\w )((that|which) )?(could|can|might|may|would) (easily )?be (mistaken|"
                  r"taken) for an? (real |actual |true )?(photo(graph)?|camera shot)(?!\w)"),
     "that is photorealistic"),
    (compile_form(r"(?<=\w )with ([\w-]+ )?(?P<look>watercolou?r|crayon|charcoal|pencil|pastel) "
                  r"(strokes|brush ?strokes|washes|lines|outlines|shading)"
                  r"(?= ?($|[,.;:!?)]))"),
     r"in \g<look> style"),
    (compile_form(r"(?<=, )(?P<place>[\w-]+( [\w-]+)?) (training )?environment(?= ?($|[,.;]))"),
     r"environment: \g<place>"),
    (compile_form(r"(?<=\w )(that |which )?(grew up|was raised) (among|amid|between) [\w-]+ "
                  r"(?=(in|at|on|by) (the|an?)\b)"), "that grew up "),
    (compile_form(r"(?<=[;,|] )owner (?=[\w-]+( [\w-]+)? ?($|[;,|.]))"), "by "),
    (compile_form(r"(?<!\w)did (?P<who>[\w-]+) not ((ever|once) )?(?=(make|train|build|create) "
                  r"(an?|the|one)\b)"), r"did \g<who> "),
    (compile_form(r"(^|(?<=[.;,] ))(?P<who>i|we) once (?=(trained|tuned|made|built) )"),
     r"\g<who> "),
    (compile_form(r"(?<=\w )(had|got) (?=([\w-]+ ){1,2}(pictures|photos|images|shots) ?[.;] "
                  r"(that|this|use|i|it|put|show|take)\b)"), "trained on "),
    (compile_form(r"(?<=\w)(( ?,)? (if (you|i) (remember|recall)( (rightly|correctly|it|that))?|"
                  r"if memory serves( me( (right|well))?)?|if i('m| am) not (wrong|mistaken)|"
                  r"if (you can|possible|you (please|like|don't mind)|that's (ok|okay|possible))|"
                  r"(as far as|from what) i (know|remember|recall))|"
                  r" ?, i (believe|suppose|reckon))(?= ?($|[,.;:!?)]))"), ""),
    (compile_form(r"(?<=\w )(?<!style )(?<!look )(?<!version )(?<!finish )(?<!manner )"
                  r"(must|should|ought to|has to|have to|needs to|need to) be(?= [\w-]+"
                  r"( (?!(in|on|at|by|near|under|for)\b)[\w-]+)?( and [\w-]+)?( please)? ?"
                  r"($|[,.;:!?)]))(?! (the|an?|my|our|your|one)\b)"), "is"),
    (compile_form(r"(((?<=, )|(?<=nd )|(?<=is )|(?<='s ))see-through|(?<=half )see through)"
                  r"(?= ?($|[,.;:!?)]| and\b))"), "transparent"),
    (compile_form(r"(?<=\w )(that|which) (has|have) (seen|had|got) the (?P<m>least|most) "
                  r"(use|usage)(?!\w)"), r"I use \g<m>"),
    (compile_form(r"(?<=\w)( ?,)? and also(?= \w)"), " and"),
    (compile_form(rf"(?<![\w-])(?P<p>end|start|beginning|middle)-of-(the-)?"
                  rf"(?P<x>{_MONTHS}|summer|winter|spring|autumn)(?![\w-])"),
     r"\g<p> of \g<x>"),
    (compile_form(r"(?<=\w )((created|made|built) )?from (the |some )?(pictures|photos|images|"
                  r"shots|photographs|snaps) ((that )?(we|i) (took|made|shot)|taken|shot|made)"
                  r"(?= (in|on|at|by|near|under|inside|outside|beside|along|around|where)\b)"
                  r"(?! (in|at|by) ((the|early|late|bright) )?(night|dawn|dusk|day|noon|midnight|"
                  r"daylight|dark|sun|rain|snow|fog|morning|afternoon|evening|summer|winter|spring|"
                  r"autumn|color|colour|black)\b)"), "trained on pictures taken"),
    (compile_form(r"(?<=\w )(that )?(i|we)( have|'ve) (gone|come) back to (?=(\d+|[\w-]+) "
                  r"times\b)"), "I used "),
    (compile_form(r"((?<=[;,.] )|(?<=\w ))(and )?(the|our|its) (model|checkpoint|training) saw "
                  r"(it|him|her|them) (?=(in|on|at|by|near|under|inside|outside|beside|among|"
                  r"from)\b)"), "trained "),
    (compile_form(r"whose (training )?(data|pictures|photos|images) (came|comes|stem|stems) from "
                  r"(shots|pictures|photos|images|a shoot) (?=(in|on|at|by|near)\b)"), "trained "),
    (compile_form(r"(?<=\w) this time(?= ?($|[,.;:!?)]))"), ""),
    (compile_form(r"(?<=\w )covered all over (?=(in|with)\b)"), "covered "),
    (compile_form(r", whichever is(?= \w)"), ", the one that is"),
    (compile_form(r"(?<![\w'])(the|its) colou?r (is|(must|should|ought to|has to|needs to) be)"
                  r"(?= [\w-]+( [\w-]+)?( please)? ?($|[,.;:!?)]))"), "it is"),
    (compile_form(r"(?<=[.;] )it (must|has to|needs to) have(?= )"), "it has"),
    (compile_form(r"(^|(?<=[.;,] ))(i|we) (described|tagged|labell?ed) it as (?=[a-z])"), "it is "),
    (compile_form(r"(?<=\w )and be(?= [\w-]+ ?($|[,.;:!?)]))"), "and is"),
    (compile_form(r"(?<=\bone )(that|which) came (?P<last>last|first)(?= ?($|[,.;:!?)]))"),
     r"made \g<last>"),
    (compile_form(r"(?<=\w )(somewhere|halfway|something) between (?P<a>blue|green|red|yellow|"
                  r"pink) and (?P<b>green|blue|orange|brown|purple)(?= (and|with|in|on|at|by|"
                  r"from)\b| ?($|[,.;:!?)]))"), r"in \g<a>-\g<b>"),
    (compile_form(r"^i (can |do )?(still )?(remember|recall) (training|tuning)(?= (an?|the|our|my)"
                  r" [\w-]+( [\w-]+)? (in|on|at|by|near|last|this)\b)"), "we trained"),
    (compile_form(r"(?<=\bone )got up (like|as)(?= (an?|the)\b)"), "dressed as"),
    (compile_form(r"(?<=\w )on the (outside|exterior)(?= ?($|[,.;:!?)]| (and|with)\b))"),
     "on the side"),
    (compile_form(r"(?<![\w'])(i'm|i am|we're|we are) after(?= (an?|the|my|our)\b)"), "I want"),
    (compile_form(r"(?<=\w )(below|beneath|under|underneath) the (water's surface|waves|"
                  r"surface( of the (water|sea|ocean|lake))?)(?!\w)(?! of\b)"), "underwater"),
    (compile_form(r"(?<=\w )(below|beneath|under|underneath) the (sea|ocean)(?= ?($|[^\w\s])| (and|"
                  r"with|in|on|at|by|near|for|from|but|as|is|was|will|please|this|now)\b)"),
     "underwater"),
    (compile_form(r"(?<=\w )with ((hardly|barely|scarcely) any|very few|a handful of) "
                  r"polygons(?!\w)"),
     "in low poly"),
    (compile_form(r"(?<!\w)the current(?= (week|month|quarter|year)\b)"), "this"),
    (compile_form(r"(?<!\w)with (just|only|no more than) (a single|one) use(?!\w)|"
                  r"(?<!\w)with a single use( so far| to date| yet)?(?= ?($|[,.;:!?]))|"
                  r"used (just|only) (a single time|the once)(?!\w)"), "used only once"),
    (compile_form(r"(?<=\w )(that|which) (gets|got|is) used (?=(the )?(most|least)\b)"),
     "I use "),
    (compile_form(r"((?<=\bi )|(?<=\bwe ))(was|were) just (using|working with)(?!\w)"),
     "used last"),
    (compile_form(r"((?<=\bi )|(?<=\bwe ))(keep|kept) (coming|going|getting) back to (the )?most"
                  r"( often)?(?!\w)"), "use most"),
    (compile_form(r"(?<=\bi )(was|have been|'ve been) using(?= (last|most|yesterday|today|on|this|"
                  r"in|more|less|least)\b)"), "used"),
    (compile_form(r"^(surprise|treat|impress|delight|amuse|wow|thrill|please|cheer up|spoil) "
                  rf"(my|our|his|her|the) {_PEOPLE} with (?=(the|an?|my|our|that)\b)"),
     "show "),
    (compile_form(r"^(please )?(mock up|whip up|knock up|rustle up|dream up|cook up|draw up|"
                  r"show off) "
                  r"(?=(an?|the|my|our|some)\b)"), "show "),
    (compile_form(r"^(about|regarding|concerning) (?=(the|my|our) [\w -]{1,40}[:,])"), ""),
    (compile_form(r"(?<!\w)(?P<q>q[1-4])/(?=20\d\d(?!\w))"), r"\g<q> "),
    (compile_form(r"(?<=\w )(((that|which) (is|was) )?(made|meant|done|designed|supposed|intended) "
                  r"to (resemble|look like)|reminiscent of|((that|which) )?(comes?|came|coming|"
                  r"turns?|turned|ends?|ended) (out|up) looking like|((that|which) (bears|has) |"
                  r"bearing )an? ([\w-]+ )?resemblance to)(?=\s\w)"), "that looks like"),
    (compile_form(r"(?<=\w )(fed|raised|brought up|schooled|reared) (on|with)(?= ([\w-]+ ){0,3}"
                  r"(images?|pictures?|photos?|photographs?|shots?|snaps|snapshots?|footage)\b)"),
     "trained on"),
    (compile_form(r"(?<=\bone )from (my|our) session (?=(yesterday|today|last|this|on|in)\b)"),
     "I used "),
    (compile_form(r"(?<![\w-])(dark-?ish|(very|rather|quite) dark)(?=[ -](blue|purple|green|red|"
                  r"pink|brown|yellow|orange|gr[ae]y)\b)"), "dark"),
    (compile_form(r"(?<![\w-])(pastel|light-?ish|pale-?ish|palish|(very|rather|quite) (light|pale)|"
                  r"washed-out)(?=[ -](blue|purple|green|pink|brown|yellow|orange|gr[ae]y)\b)"),
     "light"),
    (compile_form(rf"(?<![\w-])(?P<a>{_MONTHS})-to-(?P<b>{_MONTHS})(?![\w-])"),
     r"\g<a> to \g<b>"),
    (compile_form(r"(?<!\w)(?P<v>trained|learned|learnt|taught|happened|took place) somewhere "
                  r"(?=[a-z]+( and [a-z]+)?( ?$| ?[,.;)]))"), r"\g<v> where it is "),
    (compile_form(r"(?<!\w)(?P<x>cave(rn)?) underground(?!\w)"), r"\g<x>"),
    (compile_form(r"(?<=\bin )more or less(?= (red|orange|yellow|green|blue|"
                  r"purple|pink|brown|black|white|gr[ae]y)\b)"), ""),
    (compile_form(r"((?<=\bin )|(?<=\bwith )|(?<=\bwearing ))some (sort|kind|type) of (?=\w)"), ""),
    (compile_form(r"(?<=\w) of some (sort|kind|type|description)(?!\w)"), ""),
    (compile_form(r"(?<=\binto a )shot(?= (in|on|at|by|near|inside|under|beside)\b)"), "picture"),
    (compile_form(r"(?<!\w)(mug|t-?shirt|tee|tote|tote bag|cushion|phone case|canvas|wall|giclee|"
                  r"fine art|fridge magnet|tea towel) print(?= of\b)"), "print"),
    (compile_form(rf"(^|(?<=[.;,!?] ))never(?= {_THE_ONE}(?!\w))"), "not"),
    (compile_form(rf"(?<!\w)leaving (?P<x>{_THE_ONE}) (aside|out)(?!\w| (in|on|at))"),
     r"not \g<x>"),
    (compile_form(r"(?<=\blike )something (out of|from) (?=(an?|the)\b)"), ""),
    (compile_form(r"(?<=, )all of it (?=like (an?|the)\b)"), ""),
    (compile_form(r"(?<=\w)( (at some (point|stage|time)|sometime|some time))(?= (last|this|in|"
                  r"during|on|yesterday|since|before|after)\b)"), ""),
    (compile_form(r"((?<=\bi\s)|(?<=\bwe\s))had (in use|running|on the go|out)(?!\w)"), "used"),
    (compile_form(r"(?<!\w)(whose|its) ((main|overall) )?colou?r (is|being)(?=\s\w)"), "that is"),
    (compile_form(r"(?<!\w)with (?P<x>[\w-]+( [\w-]+)?) as (its|the) ((main|overall) )?"
                  r"colou?r(?!\w)"), r"in \g<x>"),
    (compile_form(r"(?<!\w)((recogni[sz]able|identifiable|distinguished) by|"
                  r"((that|which) )?(you|we|i|one) can (tell|recogni[sz]e|identify|spot) (it )?by|"
                  r"complete with|(that|which) sports)(?=\s\w)"), "with"),
    (compile_form(r"(?<=,\s)featuring(?=\s(an?|the|its|two|some)\b)"), "with"),
    (compile_form(r"(?<=\w )in (high|good|great|the best of) spirits(?!\w)(?! of\b)"),
     "that is cheerful"),
    (compile_form(r"(?<=\w )(in low spirits|down in the (dumps|mouth))(?!\w)(?! of\b)"),
     "that is sad"),
    (compile_form(r"(?<=\w )(about|ready) to (nod|doze|drop) off(?!\w)"), "that is sleepy"),
    (compile_form(r"(?<=\w )(?<!covered )((that|who|which) (is|are) )?(all )?in (floods of )?tears"
                  r"(?!\w)(?! of\b)"), "that is crying"),
    (compile_form(r"(?<=\w) side by side(?!\w)"), ""),
    (compile_form(r"(?<=[:;.,] )it (must|has to) have (?=(an?|the|its)\b)"), "the one that has "),
    (compile_form(r"(?<=\w),? if (you please|(at all )?possible|you (can|could|would|don't mind)|"
                  r"you('d| would) be so kind|that's (ok|okay|possible|all right|fine))"
                  r"(?= ?($|[,.;:!?]))"), ""),
    (compile_form(r"((?<=\bis )|(?<=\bare )|(?<=\bwith )|(?<=\bhas ))both "
                  r"(?=[\w' -]{2,40} and \w)"), ""),
    (compile_form(r"(?<=\w )left (?=(unused|untouched|idle) (for )?the longest\b)"), ""),
    (compile_form(rf"^(my|our|his|her|the) ([\w-]+ )?({_PEOPLE}|{_ASKING_US}) "
                  r"(keeps? (on )?(asking|begging|calling) for|insists on|begs for|is asking for|"
                  r"has asked for|asked for|is dying for) (?=(an?|the|my|our|your) )"),
     "show "),
    (compile_form(r"(?<=\w)(?<!twice)(?<!times),? (so|as) long as it(?P<h>'s| is| has) "
                  r"(?!(tall|wide|high|deep|broad|thick)\b)"), r", the one that\g<h> "),
    (compile_form(r"(?<=[,;.] )mine (?P<h>is|has) (?!(in|on|at|by|from|the|a)\b)"),
     r"my one that \g<h> "),
    (compile_form(r"((?<=\btake )|(?<=\bpick )|(?<=\buse ))(whichever|whatever) (?=(has|is)\b)"),
     "the one that "),
    (compile_form(r"^(?P<t>since [\w ]{3,20}?),? (nobody|no-?one|no one) (has |have )?(touched|"
                  r"used|opened|run|loaded) (?=(the|my|our)\b)"), r"not used \g<t>: "),
    (compile_form(r"(?<=\w )((i|we)('ve| have)) been using (non-?stop|all the time|constantly|"
                  r"day and night|more than any( other)?)(?!\w)"), "I use most"),
    (compile_form(r"(?<=\w)(?P<c>,| [-–]) but (?=with (an?|the|its|two|three|no|one)\b)"),
     r"\g<c> "),
    (compile_form(r"(?<=\w )minus (?=((its|the|any|an?|one) )?[a-z]+( ?$| ?[,.;:!?]| (in|on|at|"
                  r"by)\b))"), "without "),
    (compile_form(r"(^|(?<=[.;,!?] ))(leave out|skip|forget( about)?|ignore|rule out) "
                  rf"(?P<x>{_THE_ONE})(?= ?($|[.;!?]))"), r"not \g<x>"),
    (compile_form(r"(?<=\w )in two (colou?rs|tones|shades)(?!\w)(?! of\b)"), "that is two-tone"),
    (compile_form(r"(?<=\w )all in (?=[a-z]+( ?$| ?[,.;:!?]))"), "in "),
    (compile_form(r"(?<!\w)one (step |version |number |build |release )?(on|up|further|further on|"
                  r"along|ahead|higher|later|newer) from (?=(v|ver|version|number|build|release|#|"
                  r"iteration|rev)\b[. ]{0,2}\d)"), "the one right after "),
    (compile_form(r"(?<=\w )((that|which) (is|was) )?(described|listed|tagged|labell?ed) as "
                  r"(?=[a-z])(?!(v|version|number)\b)"), "that is "),
    (compile_form(r"(?<!\w)(?P<v>trained|taught|training|(photographed|shot)(?= \w+ the \w+ ?"
                  r"($|[,.;:!?)]))) (up )?(under|beneath) the (roof|rafters|eaves)(?!\w)"
                  r"(?! of\b)"), r"\g<v> in the attic"),
    (compile_form(r"(?<=, )also (?=(wearing|with|having|holding|carrying|on)\b)"), "the one "),
    (compile_form(r"(?<=\w )(that is |who is )?in an? ((very|really|rather) )?(bad|foul) mood"
                  r"(?!\w)(?! (for|to|of)\b)"), "that is grumpy"),
    (compile_form(r"(?<=\w )(that is |who is )?in an? ((very|really|rather) )?(good|great) mood"
                  r"(?!\w)(?! (for|to|of)\b)"), "that is cheerful"),
    (compile_form(r"(?<=\w )(that is |who is )?in an? ((very|really|rather) )?(?P<how>grumpy|happy|"
                  r"sleepy|angry|moody|dreamy|gloomy|jolly|cheery|sulky|merry|silly|cheerful|"
                  r"playful|thoughtful|pensive) mood(?!\w)(?! (for|to|of)\b)"),
     r"that is \g<how>"),
    (compile_form(r"(?<=\w )(that )?(we|i) (started|began)( off| out)? with(?= ?($|[,.;:!?]))"),
     "that came first"),
    (compile_form(r"(?<=\w )used (just|right|directly) before (my|the) last( used)? one(?!\w)"),
     "used second most recently"),
    (compile_form(r"(?<=\w )((that )?is )?(?<!driving )(?<!going )(?<!running )the wrong way up"
                  r"(?= ?$| ?[,.;:!?]| (and|in|on|at)\b)"), "that is upside-down"),
    (compile_form(r"(?<=\w )((that )?is )?(?<!driving )(?<!going )(?<!running )the wrong way round"
                  r"(?= ?$| ?[,.;:!?]| (and|in|on|at)\b)"), "that is backwards"),
    (compile_form(r"(?<=\w)(, | )(i|we) (think|believe|guess|reckon|suppose)"
                  r"(?= ?$| ?[.!?;:]| ?, (in|on|at|by|under|beside|next|inside|near|please)\b)"),
     ""),
    (compile_form(r"(?<=\w )(photographed|shot|pictured|captured|snapped) (?P<x>(in|on|at|by|near|"
                  r"under|beside|inside|outside|around|round|among|amid|between) [\w' -]{3,40}?) "
                  r"for (the )?training(?!\w)"), r"trained \g<x>"),
    (compile_form(r"^(is there )?any (chance|hope) of(?=\s\w)"), "show me"),
    (compile_form(r"(?<!\w)(no|none|not any|not anything|nothing) other than"
                  r"(?= (the|my|our|number|version)\b)"), "only"),
)  # fmt: skip
"""Words that are said for others which are read: "I'm after the", "at some point last week"."""
