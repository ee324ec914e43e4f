import type { Ajv, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { findByPointer } from './document.ts';

/** Returns the error of a value, or null when it is valid. */
export type SchemaCheck = (value: unknown) => string | null;

/** A document whose schemas refer to those in `components`. */
export interface SchemaDocument {
  components: Record<string, Record<string, object>>;
}

/**
 * Compiles schemas of a document by their JSON pointer, read in their dialect: OpenAPI 3.1 speaks JSON Schema 2020-12, AsyncAPI 3.0
 * draft 07.
 */
export function createSchemaChecks(
  document: SchemaDocument,
  Dialect: typeof Ajv2020 | typeof Ajv = Ajv2020,
): (pointer: string) => SchemaCheck {
  // Types and properties may be in different parts of an allOf; everything else is as strict as can be.
  const ajv = new Dialect({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(['components']);
  ajv.addSchema({ components: { schemas: document.components['schemas'] } }, 'document');
  // Compiling is dear, and most answers share what they refuse with.
  const compiled = new Map<string, SchemaCheck>();
  return (pointer) => {
    const schema = JSON.stringify(findByPointer(document, pointer)).replaceAll(
      '"#/components/',
      '"document#/components/',
    );
    const check = compiled.get(schema) ?? createCheck(ajv.compile(JSON.parse(schema)));
    compiled.set(schema, check);
    return check;
  };
}

function createCheck(validate: ValidateFunction): SchemaCheck {
  return (value) => {
    if (validate(value)) return null;
    const faults = (validate.errors ?? []).map(({ instancePath, message = '', params }) =>
      [instancePath || 'the whole', message, JSON.stringify(params)].join(' '),
    );
    return [...new Set(faults)].slice(0, 10).join('; ');
  };
}

/**
 * The same document, whose objects have no fields but those that it names. Clients must ignore what they do not know; a test
 * must not, or undocumented fields would go unnoticed.
 */
export function forbidUnknownFields<T>(value: T): T {
  return closeSchema(value) as T;
}

function closeSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeSchema);
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, closeSchema(child)]));
  const isObject = [own['type']].flat().includes('object') && typeof own['properties'] === 'object';
  return isObject && !('additionalProperties' in own) ? { ...own, additionalProperties: false } : own;
}
