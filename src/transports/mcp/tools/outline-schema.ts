/** What remains of a schema. */
interface Outline {
  type?: unknown;
  anyOf?: Outline[];
  items?: Outline;
}

/** Objects within a result are named without their fields. */
const leaf = { type: 'object' };

/**
 * The outline of the properties of an output schema: names and types of the fields of the result. Every client reads the schemas of all tools before its first
 * call, and results describe themselves. Leaves out texts, limits, and the fields of objects within the result.
 */
export function outlineOf(properties: Record<string, object>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]): [string, object] => [name, outlineField(schema)]),
  );
}

function outlineField(schema: Outline): Outline {
  const { type, anyOf, items } = schema;
  if (anyOf) return { anyOf: anyOf.map(outlineField) };
  if (type === 'object') return leaf;
  if (type === 'array') return { type, ...(items && { items: outlineField(items) }) };
  return type === undefined ? {} : { type };
}
