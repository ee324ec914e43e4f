import type { Ajv, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { lookUp } from './document.ts';

/** What is wrong with a value, or null when nothing is. */
export type Check = (value: unknown) => string | null;

/** A document whose schemas refer to those in `components`. */
export interface Described {
  components: Record<string, Record<string, object>>;
}

/**
 * Compiles schemas of a document by their JSON pointer, read in their dialect: OpenAPI 3.1 speaks JSON Schema 2020-12, AsyncAPI 3.0
 * draft 07.
 */
export function createSchemaChecks(
  document: Described,
  Dialect: typeof Ajv2020 | typeof Ajv = Ajv2020,
): (pointer: string) => Check {
  // Types and properties may stand in different parts of an allOf; everything else is as strict as can be.
  const ajv = new Dialect({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(['components']);
  ajv.addSchema({ components: { schemas: document.components['schemas'] } }, 'document');
  // Compiling is dear, and most answers share what they refuse with.
  const compiled = new Map<string, Check>();
  return (pointer) => {
    const schema = JSON.stringify(lookUp(document, pointer)).replaceAll(
      '"#/components/',
      '"document#/components/',
    );
    const check = compiled.get(schema) ?? checkOf(ajv.compile(JSON.parse(schema)));
    compiled.set(schema, check);
    return check;
  };
}

function checkOf(validate: ValidateFunction): Check {
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
 * must not, or nobody would ever describe it.
 */
export function closed<T>(value: T): T {
  return close(value) as T;
}

function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, close(child)]));
  const isObject = own['type'] === 'object' && typeof own['properties'] === 'object';
  return isObject && !('additionalProperties' in own) ? { ...own, additionalProperties: false } : own;
}
