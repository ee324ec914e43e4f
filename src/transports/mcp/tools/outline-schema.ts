import { timeField } from './time-texts.ts';

/** The part of a schema that an outline needs. */
export interface Schema {
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
}

/** The names of the fields of a value, if they are known. */
export interface Outline {
  items?: Outline;
  properties?: Record<string, Outline>;
}

/**
 * The outline of the properties of an output schema: the names of all fields. Every client reads the schemas of all tools before its first
 * call, and results describe themselves, so texts, limits and types are left out. A field without `properties` can be an object with any
 * fields, such as metadata.
 */
export function outlineOf(properties: Record<string, Schema>): Record<string, Outline> {
  const fields = Object.entries(properties).flatMap(([name, schema]): [string, Outline][] => {
    const field: [string, Outline] = [name, outlineField(schema)];
    // As `addTimeTexts` adds them.
    return timeField.test(name) ? [field, [`${name}_text`, {}]] : [field];
  });
  return Object.fromEntries(fields);
}

/** Of alternatives at most one has fields. */
function outlineField({ anyOf, items, properties }: Schema): Outline {
  if (anyOf) return Object.assign({}, ...anyOf.map(outlineField)) as Outline;
  if (properties && Object.keys(properties).length > 0) return { properties: outlineObject(properties) };
  const inner = items && outlineField(items);
  return inner && Object.keys(inner).length > 0 ? { items: inner } : {};
}

/** A text of a message may be cut; see `preview`. */
function outlineObject(properties: Record<string, Schema>): Record<string, Outline> {
  const fields = outlineOf(properties);
  return 'content' in fields ? { ...fields, truncated: {} } : fields;
}
