/** Marks that turn or hide what follows them, and characters without a picture. */
const invisible = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115F\u1160\u3164\uFFA0]/gu;
const breaks = /[\s\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** More marks over one letter than any language needs: they would cover other lines. */
const stackedMarks = /(\p{M}{3})\p{M}+/gu;

/**
 * What somebody else wrote, as people can be shown it: in one line, of visible characters, in the order in which they are read,
 * and of at most `longest` characters.
 */
export function toVisibleLine(text: string, longest: number): string {
  const visible = text.normalize('NFC').replace(invisible, '').replace(stackedMarks, '$1');
  const inOneLine = visible.replace(breaks, ' ').trim();
  return Array.from(inOneLine).slice(0, longest).join('').trim();
}
