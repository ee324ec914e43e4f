/** Characters that change the direction of text, and invisible ones. */
const invisible = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115F\u1160\u3164\uFFA0]/gu;
const breaks = /[\s\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** More combining marks on one letter than any language needs: they would cover other lines. */
const stackedMarks = /(\p{M}{3})\p{M}+/gu;

/** Makes text of other people safe to show: one line of visible characters, in reading order, at most `maxLength` characters. */
export function toVisibleLine(text: string, maxLength: number): string {
  const visible = text.normalize('NFC').replace(invisible, '').replace(stackedMarks, '$1');
  const inOneLine = visible.replace(breaks, ' ').trim();
  return Array.from(inOneLine).slice(0, maxLength).join('').trim();
}
