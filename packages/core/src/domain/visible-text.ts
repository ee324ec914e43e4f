/** Scripts that need joiners inside of words: Arabic, Syriac, Mongolian, N'Ko and the scripts of India and its neighbors. */
const joiningScripts = [
  'Arab',
  'Syrc',
  'Mong',
  'Nkoo',
  'Deva',
  'Beng',
  'Guru',
  'Gujr',
  'Orya',
  'Taml',
  'Telu',
]
  .concat(['Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr', 'Tibt'])
  .map((script) => String.raw`\p{sc=${script}}`)
  .join('');

/** Invisible characters that change how their neighbors look. */
const needed = [
  String.raw`(?<=\p{ExtPict}\p{EMod}?\ufe0f?)\u200d(?=\p{ExtPict})`,
  String.raw`(?<=\p{ExtPict})[\ufe0e\ufe0f]`,
  String.raw`(?<=[#*0-9])\ufe0f(?=\u20e3)`,
  String.raw`(?<=\p{sc=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=\p{sc=Mong})[\u180b-\u180d\u180f]`,
  `(?<=[${joiningScripts}])[\\u200c\\u200d](?=[${joiningScripts}])`,
].join('|');

/** Format characters, such as direction marks, and everything else that is drawn as nothing (Unicode, Default_Ignorable_Code_Point). */
const invisible = new RegExp(String.raw`(?<needed>${needed})|[\p{Cf}\p{DI}]`, 'gu');
const spaces = /[\s\p{Cc}]+/gu;
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]/u;
/** Not NUL, which is refused where text is stored. */
const controls = /(?![\s\0])\p{Cc}/gu;
/** Spaces, and characters that are drawn as an empty box: the Braille blank and an empty notehead. */
const blank = String.raw`\s\u2800\u{1d159}`;
const outerBlanks = new RegExp(`^[${blank}]+`, 'u');
const visible = new RegExp(String.raw`[^${blank}\p{M}\u0001-\u001f\u007f-\u009f]`, 'u');
/** More combining marks on one letter than any language needs: they would cover other lines. */
const stackedMarks = /(\p{M}{3})\p{M}+/gu;

const visibleWithin = new RegExp(String.raw`[^${blank}\p{M}\p{Cc}\p{Cf}\p{DI}]`, 'u');

/** Whether a text of several lines has no visible character. */
export function isBlank(text: string): boolean {
  return !visibleWithin.test(text);
}

/**
 * Text as one line that people can read: line breaks become a space; control characters, direction marks and other invisible
 * characters are removed, except where a script or an emoji needs them.
 * @returns an empty text if nothing visible is left.
 */
export function toOneLine(text: string): string {
  const line = text
    .replace(invisible, (character, kept: string | undefined) => (kept === undefined ? '' : character))
    .replace(spaces, (run) => (breaks.test(run) ? ' ' : run.replace(controls, '')))
    .replace(outerBlanks, '')
    .trimEnd();
  return visible.test(line) ? line : '';
}

/** Makes text of other people safe to quote: one line in reading order, at most `maxLength` characters, without stacked marks. */
export function toVisibleLine(text: string, maxLength: number): string {
  const shown = text.normalize('NFC').replace(/[\0\p{Co}\p{Cn}\p{Cs}]/gu, '');
  const line = toOneLine(shown).replace(stackedMarks, '$1').replace(/\s+/gu, ' ');
  return toOneLine(Array.from(line).slice(0, maxLength).join(''));
}
