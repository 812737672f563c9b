" Vim syntax file of the Groma mapping language (*.mapper)

if exists("b:current_syntax")
  finish
endif

syntax case match

syntax keyword gromaStatement Task Region Layout InstanceLimit CollectMemory IndexTaskMap
syntax keyword gromaStatement SingleTaskMap ControlReplicate TaskSteal print return
syntax match gromaStatement   /^\s*\zswhen\>\ze\s*[^ =]/
syntax keyword gromaDefine    def nextgroup=gromaFunction skipwhite
syntax keyword gromaRepeat    for in
syntax keyword gromaProcessor CPU GPU OMP IO PY PROC
syntax keyword gromaMemory    SYSMEM FBMEM ZCMEM SOCKMEM RDMEM REGSOCKMEM VIRTUAL
syntax keyword gromaLayout    SOA AOS C_order F_order Compact Exact No_Align Align
syntax keyword gromaScope     SAME_NODE ANY_NODE
syntax keyword gromaBoolean   True False true false
syntax keyword gromaType      int bool IPoint ISpace MSpace
syntax keyword gromaMachine   Machine

syntax match gromaFunction    /\<[A-Za-z_][A-Za-z0-9_]*\>/ contained
syntax match gromaTuple       /\<tuple\>\ze\s*(/
syntax match gromaOperation   /\.\@1<=\%(split\|merge\|swap\|reverse\|rotate\|slice\|balance_split\|greedy_split\|auto_split\|decompose\|has\|processor\)\>\ze\s*(/
syntax match gromaProperty    /\.\@1<=\%(size\|volume\|len\|ipoint\|ispace\|ilo\|irank\|ivolume\|parent\|name\)\>/
syntax match gromaNumber      /\<[0-9]\+\>/
syntax match gromaOperator    /==\|!=\|<=\|>=\|&&\|||\|[-+*%<>!?=]/
syntax match gromaOperator    "/"
syntax match gromaComment     /#.*$/ contains=@Spell
syntax match gromaComment     "//.*$" contains=@Spell
syntax match gromaEscape      /\\["\\]/ contained
syntax match gromaPlaceholder /{}/ contained
syntax region gromaString     start=/"/ skip=/\\["\\]/ end=/"/ oneline contains=gromaEscape,gromaPlaceholder

highlight default link gromaStatement   Statement
highlight default link gromaDefine      Keyword
highlight default link gromaRepeat      Repeat
highlight default link gromaProcessor   Constant
highlight default link gromaMemory      Constant
highlight default link gromaLayout      StorageClass
highlight default link gromaScope       Constant
highlight default link gromaBoolean     Boolean
highlight default link gromaType        Type
highlight default link gromaMachine     Type
highlight default link gromaFunction    Function
highlight default link gromaTuple       Function
highlight default link gromaOperation   Function
highlight default link gromaProperty    Identifier
highlight default link gromaNumber      Number
highlight default link gromaOperator    Operator
highlight default link gromaComment     Comment
highlight default link gromaEscape      SpecialChar
highlight default link gromaPlaceholder SpecialChar
highlight default link gromaString      String

let b:current_syntax = "groma"
