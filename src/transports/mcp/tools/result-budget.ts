/** Maximum JSON size of one result, in bytes. Many clients cut results of more than 25,000 tokens. */
const maxBytes = 60_000;
/** The same for text that is not plain words, which has two to three times as many tokens per byte. */
const maxDenseBytes = 32_768;
/** Share of characters that are not plain words above which the lower limit counts. */
const maxDenseShare = 0.25;

/**
 * Matches text that is not plain words: runs without a space that are longer than words, such as base64; scripts without spaces; and
 * characters other than letters, digits, spaces and punctuation, such as emoji.
 */
const dense =
  /[\p{L}\d+/=_-]{48,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]|[^\p{ASCII}\p{L}\p{M}\p{N}\p{P}\s]/gu;

/** Returns the maximum size of a result with this JSON text, in bytes. */
export function maxResultBytes(text: string): number {
  const sample = text.slice(0, maxBytes);
  let length = 0;
  for (const [match] of sample.matchAll(dense)) length += match.length;
  return length > sample.length * maxDenseShare ? maxDenseBytes : maxBytes;
}

/** Whether a JSON text is short enough for one result. */
export function fitsResult(text: string): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes <= maxDenseBytes || (bytes <= maxBytes && bytes <= maxResultBytes(text));
}
