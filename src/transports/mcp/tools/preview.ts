/** Longest texts that stay whole, in characters, from generous to tight. Shorter ones are never cut: ids, handles, cursors. */
const textLimits = [16_384, 8_192, 4_096, 2_048];

/**
 * The answer with its long texts cut to previews, as long as `maximum` bytes of JSON allow; every object that held a cut text
 * says `truncated: true`, and the answer itself says so too and how to read the rest. The tightest attempt, when none fits.
 */
export function preview(
  answer: Record<string, unknown>,
  maximum: number,
  read_the_rest: string,
): { value: Record<string, unknown>; text: string } {
  let value = answer;
  let text = '';
  for (const cap of textLimits) {
    const cut = cutObject(answer, cap);
    value = cut.changed ? { ...cut.value, truncated: true, read_the_rest } : answer;
    text = JSON.stringify(value);
    if (Buffer.byteLength(text) <= maximum) break;
  }
  return { value, text };
}

interface Cut<T> {
  value: T;
  changed: boolean;
  /** Whether it is, or lists, a text that was cut: then the object around it says so. */
  text: boolean;
}

function cutObject(given: object, cap: number): Cut<Record<string, unknown>> {
  const cuts = Object.entries(given).map(([key, child]: [string, unknown]) => ({
    key,
    ...cutValue(child, cap),
  }));
  const value: Record<string, unknown> = Object.fromEntries(cuts.map((cut) => [cut.key, cut.value]));
  const truncated = cuts.some((cut) => cut.text) && { truncated: true };
  return { value: { ...value, ...truncated }, changed: cuts.some((cut) => cut.changed), text: false };
}

function cutValue(given: unknown, cap: number): Cut<unknown> {
  if (typeof given === 'string') return cutText(given, cap);
  if (Array.isArray(given)) {
    const cuts = given.map((item: unknown) => cutValue(item, cap));
    return {
      value: cuts.map((cut) => cut.value),
      changed: cuts.some((cut) => cut.changed),
      text: cuts.some((cut) => cut.text),
    };
  }
  if (typeof given === 'object' && given !== null) return cutObject(given, cap);
  return { value: given, changed: false, text: false };
}

function cutText(text: string, cap: number): Cut<string> {
  if (text.length <= cap) return { value: text, changed: false, text: false };
  const whole = text.slice(0, cap);
  const last = whole.charCodeAt(cap - 1);
  const halved = last >= 0xd800 && last <= 0xdbff;
  return { value: `${halved ? whole.slice(0, -1) : whole}…`, changed: true, text: true };
}
