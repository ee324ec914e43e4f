/** Hostile words, separated by spaces. */
const splitWords = (text: string): string[] => text.trim().split(/\s+/);

/** JSON texts that hardly any field accepts, one per line. */
export const hostileJson: readonly string[] = String.raw`
null
true
false
0
-0
-1
1.5
1e400
-1e400
1e-400
2147483648
9007199254740993
99999999999999999999999
""
" "
[]
{}
[[]]
[null]
"NaN"
"null"
"\ud800"
"\udfff\ud800"
"a\u0000b"
"\u0000"
"\uffff"
"\u202e"
"\u2028"
{"__proto__":{"x":1}}
{"constructor":{"prototype":{}}}
"__proto__"
"constructor"
"toString"
{"\ud800":1}
{"\u0000":1}
{"a":1,"a":2}
"{{any_thread:0}}"
"{{agent:0}}"
"{{message:0}}"
"%00"
"../../etc/passwd"
"'; drop table threads; --"
"<script>alert(1)</script>"
"\\"
"a.b"
"@a.b"
"a..b"
"A.B"
".b"
"a."
"a.b.c"
"*"
"*.*"
"a.*"
"ａ.ｂ"
"İ.i"
"-word"
"\"open"
"a* b*"
"- - -"
"& | ! ( ) : <->"
"\ufb01 \u212b"
"﷽"
`
  .trim()
  .split('\n');

/** Segments of paths, including the empty one. */
export const hostileSegments: readonly string[] = [
  '',
  'x'.repeat(300),
  '%41'.repeat(2_000),
  ...splitWords(`
    %00 %2e%2e %2E .. . %ff % %zz %c0%af %2F %5c ; @ : * ~ %20 %0d%0aX-Injected:%201 %F0%9F%92%AC
    __proto__ constructor me managed search null undefined 0 -1 NaN {{any_thread:3}} {{agent:3}} {{handle:3}}
    %25%32%65 {{handle:1}}%00 %EF%BB%BF %ED%A0%80 ( [ + $&
  `),
];

/** Hostile query strings. */
export const hostileQueries: readonly string[] = [
  '',
  `q=${'x'.repeat(3_000)}`,
  ...splitWords(`
    limit=1&limit=2 limit[]=1 limit= limit = &&& % %zz=%zz %00=%00 __proto__=1 constructor=1
    cursor= cursor=x cursor=. cursor=a.b cursor=W10.AAAAAAAAAAAAAAAA cursor=%00 cursor={{cursor:1}} cursor={{cursor:7}}
    cursor={{cursor:31}} cursor={{cursor:1}}x cursor={{cursor:1}}&cursor={{cursor:2}}
    limit=-0 limit=1e1 limit=0x10 limit=+1 limit=%201 limit=%D9%A1 limit=999999999999999999999 limit=NaN limit=1.0 limit=true
    status[a]=b status=ACTIVE q= q=%00 q=%ED%A0%80 q=%ff with_handle[]=a.b with_handle=a.b&with_handle=c.d
    updated_since=-1 updated_since=9007199254740993 after_sequence=2147483648 order=ASC a=1;b=2 ? #
  `),
];

/** Field names that no operation has, or that are special in JavaScript. */
export const hostileNames: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  ...splitWords('__proto__ constructor toString hasOwnProperty thread_id owner 0 a.b'),
];

/** Bytes to put before or after a body, or in its place. */
export const hostileBodies: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\uFEFF',
  '// x',
  '['.repeat(50_000),
  'x'.repeat(300_000),
  ...splitWords(
    String.raw`} , [] null "x" 7 NaN { [ {"a":} {'a':1} {"__proto__":{"thread_id":"x"}} {}{} "\u12" é`,
  ),
];
