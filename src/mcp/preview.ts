/** Longest texts that stay whole, in characters, from generous to tight. Shorter ones are never cut: ids, handles, cursors. */
const caps = [16_384, 8_192, 4_096, 2_048];

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
  for (const cap of caps) {
    const cut = cutObject(answer, cap);
    value = cut.changed ? { ...cut.value, truncated: true, read_the_rest } : answer;
    text = JSON.stringify(value);
    if (Buffer.byteLength(text) <= maximum) break;
  }
  return { value, text };
}

function cutObject(given: object, cap: number): { value: Record<string, unknown>; changed: boolean } {
  let changed = false;
  let held = false;
  const entries = Object.entries(given).map(([key, child]: [string, unknown]) => {
    const cut = cutValue(child, cap);
    changed ||= cut.changed;
    held ||= cut.changed && typeof child === 'string';
    return [key, cut.value];
  });
  const value: Record<string, unknown> = Object.fromEntries(entries);
  return { value: held ? { ...value, truncated: true } : value, changed };
}

function cutValue(given: unknown, cap: number): { value: unknown; changed: boolean } {
  if (typeof given === 'string') return cutText(given, cap);
  if (Array.isArray(given)) {
    const items = given.map((item: unknown) => cutValue(item, cap));
    return { value: items.map((item) => item.value), changed: items.some((item) => item.changed) };
  }
  return typeof given === 'object' && given !== null
    ? cutObject(given, cap)
    : { value: given, changed: false };
}

function cutText(text: string, cap: number): { value: string; changed: boolean } {
  if (text.length <= cap) return { value: text, changed: false };
  const whole = text.slice(0, cap);
  const last = whole.charCodeAt(cap - 1);
  const halved = last >= 0xd800 && last <= 0xdbff;
  return { value: `${halved ? whole.slice(0, -1) : whole}…`, changed: true };
}
