import { z } from 'zod';

export type Json = Record<string, unknown>;

export interface ObjectSchema extends Json {
  properties?: Record<string, Json>;
  required?: string[];
}

/** Converts zod schemas to JSON Schema. Schemas with an id are collected and referred to. */
export interface Schemas {
  of(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema;
  /** The collected schemas, by id. */
  named(): Record<string, Json>;
}

/** @param target the JSON Schema dialect of the document. */
export function createSchemas(target: 'draft-2020-12' | 'draft-07'): Schemas {
  const named: Record<string, Json> = {};

  function collect(name: string, schema: Json): void {
    const existing = named[name];
    if (existing && JSON.stringify(existing) !== JSON.stringify(schema)) {
      throw new Error(`two different schemas have the id ${name}`);
    }
    named[name] = schema;
  }

  const converted = { input: new Map<z.ZodType, Json>(), output: new Map<z.ZodType, Json>() };

  function convert(schema: z.ZodType, io: 'input' | 'output'): Json {
    const jsonSchema = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      target,
      override: (context) => simplify(context.jsonSchema, io),
    });
    const text = JSON.stringify(jsonSchema).replaceAll(
      /"#\/(?:\$defs|definitions)\//g,
      '"#/components/schemas/',
    );
    const { $schema: _dialect, $defs, definitions, id, ...own }: Json = JSON.parse(text, describeNullable);
    const inner = { ...($defs as Json), ...(definitions as Json) };
    for (const [name, one] of Object.entries(inner)) collect(name, one as Json);
    if (typeof id !== 'string') return own;
    collect(id, own);
    return { $ref: `#/components/schemas/${id}` };
  }

  return {
    of(schema, io) {
      const known = converted[io].get(schema) ?? convert(schema, io);
      converted[io].set(schema, known);
      return known;
    },
    named: () => named,
  };
}

/** Removes the limits of JavaScript integers. Response schemas allow additional properties: later versions may add fields. */
function simplify(schema: Json, io: 'input' | 'output'): void {
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (io === 'output' && schema['additionalProperties'] === false) delete schema['additionalProperties'];
}

/** Moves the description of a nullable type from its variant to the property. */
function describeNullable(_: string, value: unknown): unknown {
  const { anyOf } = Object(value) as { anyOf?: Json[] };
  const [only, ...others] = anyOf?.filter(({ type }) => type !== 'null') ?? [];
  if (!only?.['description'] || others.length > 0) return value;
  const { description, ...kind } = only;
  return { description, ...(value as Json), anyOf: [kind, { type: 'null' }] };
}
