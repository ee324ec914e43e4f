/** The parts of JSON Schema that the published documents use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  description?: string;
}

/** Whether the text is for values that are sent or received. A caller may pass undefined for an optional value. */
export type Direction = 'sent' | 'received';

/** Receives the name of every referred schema. */
export type OnReference = (name: string) => void;

const primitives: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Formats types, with the records of a document by name. */
export class TypeFormatter {
  readonly #records: Readonly<Record<string, Schema>>;
  readonly #bySize: readonly { name: string; keys: Set<string> }[];

  /** @param records what objects with the same properties are called. */
  constructor(records: Readonly<Record<string, Schema>>) {
    this.#records = records;
    this.#bySize = Object.entries(records)
      .map(([name, schema]) => ({ name, keys: fingerprint(schema) }))
      .filter(({ keys }) => keys.size > 1)
      .sort((a, b) => b.keys.size - a.keys.size);
  }

  /** Returns the TypeScript type of a schema. */
  formatType(schema: Schema, direction: Direction, onReference: OnReference): string {
    const format = (part: Schema) => this.formatType(part, direction, onReference);
    if (schema.const !== undefined) return quote(schema.const);
    if (schema.enum) return schema.enum.map(quote).join(' | ');
    if (schema.properties) return this.#formatObject(schema, direction, onReference);
    if (schema.$ref !== undefined) {
      const name = referredName(schema.$ref);
      onReference(name);
      return name;
    }
    if (isAnyEvent(schema)) {
      onReference(anyEvent);
      return anyEvent;
    }
    const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (choices) return [...new Set(choices.map(format))].join(schema.allOf ? ' & ' : ' | ');
    if (Array.isArray(schema.type)) return schema.type.map((type) => format({ type })).join(' | ');
    if (schema.type === 'array') return `readonly ${group(format(schema.items ?? {}))}[]`;
    if (schema.type === 'object') return 'Record<string, unknown>';
    return primitives[schema.type ?? ''] ?? 'unknown';
  }

  /** Returns the declaration of an object type, which extends the record that it contains. */
  formatDeclaration(name: string, schema: Schema, direction: Direction, onReference: OnReference): string {
    const { name: base, rest } = direction === 'received' ? this.#findRecord(schema, name) : { rest: schema };
    if (base !== undefined) onReference(base);
    const body = this.#formatProperties(rest, direction, onReference);
    const comment = formatComment(schema.description);
    if (base !== undefined && body === '') return `${comment}export type ${name} = ${base};`;
    const parent = base === undefined ? '' : ` extends ${base}`;
    return `${comment}export interface ${name}${parent} {\n${indent(body)}\n}`;
  }

  #formatObject(schema: Schema, direction: Direction, onReference: OnReference): string {
    const { name, rest } = direction === 'received' ? this.#findRecord(schema) : { rest: schema };
    if (name !== undefined) onReference(name);
    const body = this.#formatProperties(rest, direction, onReference);
    const literal = `{\n${indent(body)}\n}`;
    if (name === undefined) return literal;
    return body === '' ? name : `${name} & ${literal}`;
  }

  /** The lines of the properties of an object, each after its description. */
  #formatProperties(
    { properties = {}, required = [] }: Schema,
    direction: Direction,
    onReference: OnReference,
  ): string {
    return Object.entries(properties)
      .map(([name, schema]) => {
        const isOptional = !required.includes(name);
        const type = this.formatType(schema, direction, onReference);
        const absent = isOptional && direction === 'sent' && type !== 'unknown' ? ' | undefined' : '';
        return `${formatComment(schema.description)}${name}${isOptional ? '?' : ''}: ${type}${absent};`;
      })
      .join('\n');
  }

  /** The largest record whose properties an object has, and the properties that it has beside them. */
  #findRecord(schema: Schema, self?: string): { name?: string; rest: Schema } {
    const own = fingerprint(schema);
    // Of two equal records, the second is the first one by another name.
    const position = this.#bySize.findIndex(({ name }) => name === self);
    const found = this.#bySize.find(
      ({ keys }, index) =>
        (position < 0 || index < position || (index > position && keys.size < own.size)) &&
        [...keys].every((key) => own.has(key)),
    );
    if (!found) return { rest: schema };
    const known = this.#records[found.name]?.properties ?? {};
    const rest = Object.entries(schema.properties ?? {}).filter(([name]) => !(name in known));
    return { name: found.name, rest: { ...schema, properties: Object.fromEntries(rest) } };
  }
}

/** The type of the events of all types. */
export const anyEvent = 'KnownEvent';

export function referredName(reference: string): string {
  return reference.replace('#/components/schemas/', '');
}

/** Whether this is the envelope of a type of event. */
export function isEvent({ properties: { type, cursor, data } = {} }: Schema): boolean {
  return typeof type?.const === 'string' && cursor !== undefined && data !== undefined;
}

/** A choice of envelopes is always that of all of them. */
function isAnyEvent({ anyOf, oneOf }: Schema): boolean {
  const choices = anyOf ?? oneOf ?? [];
  return choices.length > 1 && choices.every(({ $ref = '' }) => $ref.endsWith('Event'));
}

/** One text for each property of an object: its name, its type, and whether it is always there. */
function fingerprint({ properties = {}, required = [] }: Schema): Set<string> {
  const isText = (key: string) => ['description', 'example', 'pattern'].includes(key);
  const texts = Object.entries(properties).map(([name, schema]) =>
    JSON.stringify([name, required.includes(name), schema], (key, value: unknown) =>
      isText(key) && typeof value === 'string' ? undefined : value,
    ),
  );
  return new Set(texts);
}

/** Returns a line that imports names from a module. */
export function formatImport(names: string, path: string): string {
  return `import ${names} from '${path}';`;
}

/** Returns the description as a comment with a line break; empty without one. */
export function formatComment(description: string | undefined): string {
  return description ? `/** ${description.replaceAll('\n', ' ').replaceAll('*/', '*\\/')} */\n` : '';
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
}

function group(type: string): string {
  return /^\w+$/.test(type) || type.startsWith('{') ? type : `(${type})`;
}
