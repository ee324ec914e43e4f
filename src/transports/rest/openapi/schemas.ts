import { z } from 'zod';

export type Json = Record<string, unknown>;

export interface ObjectSchema extends Json {
  properties?: Record<string, Json>;
  required?: string[];
}

/** Turns zod schemas into JSON Schema; those with a name are gathered and referred to. */
export interface Schemas {
  of(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema;
  /** What was met by name so far. */
  named(): Record<string, Json>;
}

/** @param target the dialect of JSON Schema that the document speaks. */
export function createSchemas(target: 'draft-2020-12' | 'draft-07'): Schemas {
  const all: Record<string, Json> = {};

  function keep(name: string, schema: Json): void {
    const known = all[name];
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two different schemas are called ${name}`);
    }
    all[name] = schema;
  }

  return {
    of(schema, io) {
      const made = z.toJSONSchema(schema, {
        io,
        unrepresentable: 'any',
        target,
        override: ({ jsonSchema }) => simplify(jsonSchema, io),
      });
      const text = JSON.stringify(made).replaceAll(/"#\/(?:\$defs|definitions)\//g, '"#/components/schemas/');
      const { $schema: _dialect, $defs, definitions, id, ...own }: Json = JSON.parse(text, describeNullable);
      const inner = { ...($defs as Json), ...(definitions as Json) };
      for (const [name, one] of Object.entries(inner)) keep(name, one as Json);
      if (typeof id !== 'string') return own;
      keep(id, own);
      return { $ref: `#/components/schemas/${id}` };
    },
    named: () => all,
  };
}

/**
 * Leaves out the limits of integers that only JavaScript has; answers stay open to what a later version adds (contract, section
 * 10).
 */
function simplify(schema: Json, io: 'input' | 'output'): void {
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (io === 'output' && schema['additionalProperties'] === false) delete schema['additionalProperties'];
}

/** What may be null is described where it stands, not only where it is something. */
function describeNullable(_: string, value: unknown): unknown {
  const { anyOf } = Object(value) as { anyOf?: Json[] };
  const [only, ...others] = anyOf?.filter(({ type }) => type !== 'null') ?? [];
  if (!only?.['description'] || others.length > 0) return value;
  const { description, ...kind } = only;
  return { description, ...(value as Json), anyOf: [kind, { type: 'null' }] };
}
