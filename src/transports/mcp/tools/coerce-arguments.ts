import { readReference } from './references.ts';

/** A JSON Schema of one argument, as far as coercion needs it. */
interface ArgumentSchema {
  type?: string | string[];
  anyOf?: ArgumentSchema[];
  enum?: unknown[];
  items?: ArgumentSchema;
  properties?: Record<string, object>;
  required?: string[];
}

/** A JSON Schema of an object with these arguments. */
type ArgumentsSchema = Pick<ArgumentSchema, 'properties' | 'required'>;

/** Longer texts are not read as JSON: no list or object that a tool takes is as long. */
const maxJsonLength = 65_536;

/** Arguments that mean the same. */
const synonyms: readonly [string, string][] = [
  ['q', 'query'],
  ['query', 'q'],
  ['limit', 'message_limit'],
];

/** Optional texts that an empty text clears. For others it means that they are left out: some models fill in every argument. */
const clearable = new Set(['subject', 'description', 'card_body']);

/** Arguments that hold an id, a handle or a cursor. */
const reference = /^(?:\w+_ids?|reply_to|handle|with_handle|participants|counterpart|from|agent|cursor)$/;
const notReference = new Set(['idempotency_key']);

/** Media types in place of the format of a message. */
const formats: Record<string, string> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  md: 'markdown',
  'text/plain': 'text',
  plain: 'text',
};

/**
 * Converts arguments as models often write them to the types of the tool's input: numbers and booleans in strings, JSON texts for lists and
 * objects, a text with commas or one value for a list, `null` and empty texts for absent arguments, ids and handles in quotes or as
 * resource addresses, and other names of an argument. What cannot be converted is left as it is, and validation reports it.
 */
export function coerceArguments(
  args: Record<string, unknown>,
  { properties = {}, required = [] }: ArgumentsSchema,
): Record<string, unknown> {
  const coerced: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    const field = toFieldName(name, args, properties);
    const schema = Object.hasOwn(properties, field) ? (properties[field] as ArgumentSchema) : undefined;
    const isAbsent = value === '' && !required.includes(field) && !clearable.has(field);
    const result = schema ? coerceField(field, isAbsent ? null : value, schema) : value;
    const isCleared = isAbsent && result === null;
    if (result !== undefined && !isCleared)
      Object.defineProperty(coerced, field, { value: result, enumerable: true });
  }
  return coerced;
}

function toFieldName(name: string, args: object, properties: object): string {
  if (Object.hasOwn(properties, name)) return name;
  const synonym = synonyms.find(([from, to]) => from === name && Object.hasOwn(properties, to))?.[1];
  return synonym !== undefined && !Object.hasOwn(args, synonym) ? synonym : name;
}

function coerceField(field: string, value: unknown, schema: ArgumentSchema): unknown {
  const result = coerce(value, schema);
  if (!reference.test(field) || notReference.has(field)) return result;
  if (Array.isArray(result)) return result.map((item: unknown) => toReference(item));
  return toReference(result);
}

const toReference = (value: unknown) => (typeof value === 'string' ? readReference(value) : value);

/** Returns undefined for an argument that counts as absent. */
function coerce(value: unknown, schema: ArgumentSchema): unknown {
  const types = typesOf(schema);
  if (value === null) return types.has('null') ? null : undefined;
  if (typeof value === 'string')
    return types.has('string') ? toOption(value, schema) : fromText(value, types, schema);
  if (Array.isArray(value)) return coerceList(value, types, schema);
  if (types.has('array') && schema.items) return coerce([value], schema);
  if (typeof value === 'object') return coerceObject({ ...value }, schema);
  const isConverted = typeof value === 'number' || typeof value === 'boolean';
  const isText = types.has('string') && !['number', 'integer', 'boolean'].some((type) => types.has(type));
  return isConverted && isText ? String(value) : value;
}

function coerceList(list: readonly unknown[], types: ReadonlySet<string>, schema: ArgumentSchema): unknown {
  const { items } = schema;
  if (items) return list.map((item) => coerce(item, items) ?? null);
  const [only] = list;
  return list.length === 1 && typeof only === 'string' && types.has('string') ? coerce(only, schema) : list;
}

function coerceObject(
  value: Record<string, unknown>,
  { properties, required, anyOf = [] }: ArgumentSchema,
): unknown {
  const schema = properties
    ? { properties, ...(required && { required }) }
    : anyOf.find((option) => option.properties);
  return schema ? coerceArguments(value, schema) : value;
}

function typesOf({ type, anyOf = [] }: ArgumentSchema): Set<string> {
  const own = typeof type === 'string' ? [type] : (type ?? []);
  return new Set([...own, ...anyOf.flatMap((option) => [...typesOf(option)])]);
}

/** One of the values of an enumeration, in any case or quotes; other texts as they are. */
function toOption(text: string, schema: ArgumentSchema): string {
  const options = schema.enum;
  if (!options || options.includes(text)) return text;
  const option = readReference(text).toLowerCase();
  const found = [option, formats[option]].find((one) => one !== undefined && options.includes(one));
  return found ?? text;
}

function fromText(text: string, types: ReadonlySet<string>, schema: ArgumentSchema): unknown {
  const trimmed = text.trim();
  if (types.has('integer') || types.has('number'))
    return /^-?\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : text;
  if (types.has('boolean')) return { true: true, false: false }[trimmed.toLowerCase()] ?? text;
  if (types.has('array')) return fromListText(trimmed, schema);
  // Without a type, it is any JSON.
  if (types.has('object') || types.size === 0) return parseJson(trimmed) ?? text;
  return text;
}

/** A JSON list, or values with commas or spaces between them: no value of a list of texts contains one. */
function fromListText(text: string, schema: ArgumentSchema): unknown {
  const list = /^[[{]/.test(text) ? parseJson(text) : undefined;
  if (typeof list === 'object' && list !== null) return coerce(list, schema);
  if (!schema.items || !typesOf(schema.items).has('string') || text.length > maxJsonLength) return [text];
  const values = text.replace(/^\[|\]$/g, '').split(/[\s,;]+/);
  return coerce(
    values.filter((value) => value !== ''),
    schema,
  );
}

function parseJson(text: string): unknown {
  if (text.length > maxJsonLength) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
