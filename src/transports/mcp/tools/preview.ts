import { describeRest, findRestCall, type RestCall } from './read-the-rest.ts';

/** Maximum text lengths to try, in characters. Shorter texts such as ids, handles and cursors are never cut. */
const textLimits = [16_384, 8_192, 4_096];
const minTextLimit = 2_048;

/**
 * Cuts long texts to previews until the JSON of the output fits. Objects with a cut text get `truncated: true`; the output also gets
 * `read_the_rest`. Returns the shortest attempt if none fits. Texts that no other call returns, such as the card of an agent, stay whole.
 */
export function preview(
  output: Record<string, unknown>,
  isSmall: (text: string) => boolean,
): { value: Record<string, unknown>; text: string } {
  const attempt = (maxLength: number) => {
    const cut = cutObject(output, maxLength);
    const read_the_rest = cut.rest && describeRest(cut.rest);
    const value = read_the_rest === undefined ? output : { ...cut.value, truncated: true, read_the_rest };
    return { value, text: JSON.stringify(value) };
  };
  // The shortest limit first: most outputs that are too large are lists, which no limit makes fit, and each attempt reads the whole output.
  const shortest = attempt(minTextLimit);
  if (!isSmall(shortest.text)) return shortest;
  for (const maxLength of textLimits) {
    const longer = attempt(maxLength);
    if (isSmall(longer.text)) return longer;
  }
  return shortest;
}

interface Cut<T> {
  value: T;
  changed: boolean;
  /** Whether the value is, or lists, a cut text. Its object is then marked as truncated. */
  text: boolean;
  /** The call that returns the first cut text whole. */
  rest?: RestCall | undefined;
}

function cutObject(object: object, maxLength: number): Cut<Record<string, unknown>> {
  const cuts = Object.entries(object).map(([key, child]: [string, unknown]) => ({
    key,
    ...cutValue(child, maxLength),
  }));
  const value: Record<string, unknown> = Object.fromEntries(cuts.map((cut) => [cut.key, cut.value]));
  const truncated = cuts.some((cut) => cut.text) && { truncated: true };
  const first = cuts.find((cut) => cut.changed);
  // Other agents write the fields of metadata, so they name no call.
  const rest = first && ((first.key === 'metadata' ? undefined : first.rest) ?? findRestCall({ ...object }));
  return { value: { ...value, ...truncated }, changed: first !== undefined, text: false, rest };
}

function cutValue(input: unknown, maxLength: number): Cut<unknown> {
  if (typeof input === 'string') return cutText(input, maxLength);
  if (Array.isArray(input)) {
    const cuts = input.map((item: unknown) => cutValue(item, maxLength));
    return {
      value: cuts.map((cut) => cut.value),
      changed: cuts.some((cut) => cut.changed),
      text: cuts.some((cut) => cut.text),
      rest: cuts.find((cut) => cut.changed)?.rest,
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
