/** Maximum text lengths to try, in characters. Shorter texts such as ids, handles and cursors are never cut. */
const textLimits = [16_384, 8_192, 4_096, 2_048];

/**
 * Cuts long texts to previews until the output fits into `maxBytes` of JSON. Objects with a cut text get `truncated: true`; the
 * output also gets `read_the_rest`. Returns the shortest attempt if none fits.
 */
export function preview(
  output: Record<string, unknown>,
  maxBytes: number,
  read_the_rest: string,
): { value: Record<string, unknown>; text: string } {
  let value = output;
  let text = '';
  for (const maxLength of textLimits) {
    const cut = cutObject(output, maxLength);
    value = cut.changed ? { ...cut.value, truncated: true, read_the_rest } : output;
    text = JSON.stringify(value);
    if (Buffer.byteLength(text) <= maxBytes) break;
  }
  return { value, text };
}

interface Cut<T> {
  value: T;
  changed: boolean;
  /** Whether the value is, or lists, a cut text. Its object is then marked as truncated. */
  text: boolean;
}

function cutObject(object: object, maxLength: number): Cut<Record<string, unknown>> {
  const cuts = Object.entries(object).map(([key, child]: [string, unknown]) => ({
    key,
    ...cutValue(child, maxLength),
  }));
  const value: Record<string, unknown> = Object.fromEntries(cuts.map((cut) => [cut.key, cut.value]));
  const truncated = cuts.some((cut) => cut.text) && { truncated: true };
  return { value: { ...value, ...truncated }, changed: cuts.some((cut) => cut.changed), text: false };
}

function cutValue(input: unknown, maxLength: number): Cut<unknown> {
  if (typeof input === 'string') return cutText(input, maxLength);
  if (Array.isArray(input)) {
    const cuts = input.map((item: unknown) => cutValue(item, maxLength));
    return {
      value: cuts.map((cut) => cut.value),
      changed: cuts.some((cut) => cut.changed),
      text: cuts.some((cut) => cut.text),
    };
  }
  if (typeof input === 'object' && input !== null) return cutObject(input, maxLength);
  return { value: input, changed: false, text: false };
}

function cutText(text: string, maxLength: number): Cut<string> {
  if (text.length <= maxLength) return { value: text, changed: false, text: false };
  const start = text.slice(0, maxLength);
  const last = start.charCodeAt(maxLength - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return { value: `${splitsPair ? start.slice(0, -1) : start}…`, changed: true, text: true };
}
