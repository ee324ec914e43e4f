import { timeField } from './time-texts.ts';

/** What remains of a schema. */
interface Outline {
  type?: string | string[];
  anyOf?: Outline[];
  items?: Outline;
  properties?: Record<string, Outline>;
}

/**
 * The outline of the properties of an output schema: the names of all fields, and the types of those of the result itself. Every client
 * reads the schemas of all tools before its first call, and results describe themselves. Leaves out texts, limits, and the types of fields
 * of objects within the result. An object without `properties` can have any fields, such as metadata.
 */
export function outlineOf(properties: Record<string, object>): Record<string, object> {
  return outlineFields(properties, outlineField);
}

function outlineFields(
  properties: Record<string, Outline>,
  outline: (schema: Outline) => Outline,
): Record<string, Outline> {
  const fields = Object.entries(properties).flatMap(([name, schema]): [string, Outline][] => {
    const field: [string, Outline] = [name, outline(schema)];
    // As `addTimeTexts` adds them.
    return timeField.test(name) ? [field, [`${name}_text`, {}]] : [field];
  });
  return Object.fromEntries(fields);
}

function outlineField({ type, anyOf, items, properties }: Outline): Outline {
  if (anyOf) return joinOutlines(anyOf.map(outlineField));
  if (properties && Object.keys(properties).length > 0)
    return { type: 'object', properties: outlineObject(properties) };
  if (type === 'array') return { type, ...(items && { items: outlineField(items) }) };
  return type === undefined ? {} : { type };
}

/** A text of a message may be cut; see `preview`. */
function outlineObject(properties: Record<string, Outline>): Record<string, Outline> {
  const fields = outlineFields(properties, outlineInner);
  return 'content' in fields ? { ...fields, truncated: {} } : fields;
}

/** Within objects, only those fields keep a type that have fields of their own. */
function outlineInner(schema: Outline): Outline {
  const outline = outlineField(schema);
  const { properties, items } = outline;
  return properties || items?.properties ? outline : {};
}

/** One outline for alternatives, of which at most one has fields. */
function joinOutlines(options: readonly Outline[]): Outline {
  const type = [...new Set(options.flatMap((option) => option.type ?? []))];
  return { ...Object.assign({}, ...options), type };
}
