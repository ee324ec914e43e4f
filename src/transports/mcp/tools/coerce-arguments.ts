import type { ObjectSchema } from './json-schemas.ts';

/** A JSON Schema of one argument, as far as coercion needs it. */
interface ArgumentSchema {
  type?: string | string[];
  anyOf?: ArgumentSchema[];
  items?: ArgumentSchema;
}

/** Longer texts are not read as JSON: no list or object that a tool takes is as long. */
const maxJsonLength = 65_536;

/** Arguments that mean the same. */
const synonyms: readonly [string, string][] = [
  ['q', 'query'],
  ['query', 'q'],
  ['limit', 'message_limit'],
];

/**
 * Converts arguments as models often write them to the types of the tool's input: numbers and booleans in strings, JSON texts for lists and
 * objects, one value for a list, `null` for an absent argument, RFC 3339 for times in milliseconds, and `query` for `q`. What cannot be
 * converted is left as it is, and validation reports it.
 */
export function coerceArguments(
  args: Record<string, unknown>,
  { properties }: Pick<ObjectSchema, 'properties'>,
): Record<string, unknown> {
  const coerced: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    const field = toFieldName(name, args, properties);
    const schema = Object.hasOwn(properties, field) ? (properties[field] as ArgumentSchema) : undefined;
    const result = schema ? coerce(value, schema) : value;
    if (result !== undefined) Object.defineProperty(coerced, field, { value: result, enumerable: true });
  }
  return coerced;
}

function toFieldName(name: string, args: object, properties: object): string {
  if (Object.hasOwn(properties, name)) return name;
  const synonym = synonyms.find(([from, to]) => from === name && Object.hasOwn(properties, to))?.[1];
  return synonym !== undefined && !Object.hasOwn(args, synonym) ? synonym : name;
}

/** Returns undefined for an argument that counts as absent. */
function coerce(value: unknown, schema: ArgumentSchema): unknown {
  const types = typesOf(schema);
  if (value === null) return types.has('null') ? null : undefined;
  if (typeof value === 'string') return types.has('string') ? value : fromText(value, types, schema);
  if (Array.isArray(value) && schema.items)
    return value.map((item) => coerce(item, schema.items ?? {}) ?? null);
  if (types.has('array') && schema.items) return coerce([value], schema);
  if ((typeof value === 'number' || typeof value === 'boolean') && types.has('string') && types.size === 1)
    return String(value);
  return value;
}

function typesOf({ type, anyOf = [] }: ArgumentSchema): Set<string> {
  const own = typeof type === 'string' ? [type] : (type ?? []);
  return new Set([...own, ...anyOf.flatMap((option) => [...typesOf(option)])]);
}

function fromText(text: string, types: ReadonlySet<string>, schema: ArgumentSchema): unknown {
  const trimmed = text.trim();
  if (types.has('integer') || types.has('number')) return toNumber(trimmed) ?? text;
  if (types.has('boolean')) return { true: true, false: false }[trimmed.toLowerCase()] ?? text;
  if (types.has('array')) {
    const list = trimmed.startsWith('[') ? parseJson(trimmed) : undefined;
    return Array.isArray(list) ? coerce(list, schema) : [text];
  }
  if (types.has('object')) return parseJson(trimmed) ?? text;
  return text;
}

/** A number in a text, or an RFC 3339 time as milliseconds since the Unix epoch. */
function toNumber(text: string): number | undefined {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}.{0,20})?$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

function parseJson(text: string): unknown {
  if (text.length > maxJsonLength) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
