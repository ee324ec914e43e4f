import { type ErrorDetail, ServiceError } from '../core/service-error.ts';

/** The part of JSON Schema that the inputs of operations use. */
export interface Schema {
  type?: string;
  enum?: readonly unknown[];
  const?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: readonly Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  default?: unknown;
}

/**
 * Checks an input against the schema of an operation, and sets defaults.
 * @throws {ServiceError} VALIDATION_ERROR, with every wrong field
 */
export function parseInput(schema: Schema, value: unknown): Record<string, unknown> {
  const details: ErrorDetail[] = [];
  const parsed = check(schema, value, '', details);
  if (details.length === 0) return parsed as Record<string, unknown>;
  const message = details.map((detail) => `${detail.field}: ${detail.message}`.replace(/^: /, ''));
  throw new ServiceError('VALIDATION_ERROR', message.join('; '), { details });
}

function check(schema: Schema, value: unknown, path: string, details: ErrorDetail[]): unknown {
  const refuse = (message: string) => void details.push({ field: path, message });
  if (schema.anyOf) return checkAny(schema.anyOf, value, path, details);
  if (schema.const !== undefined && schema.const !== value) refuse(`must be ${schema.const}`);
  else if (schema.enum && !schema.enum.includes(value))
    refuse(`must be one of: ${schema.enum.map(String).join(', ')}`);
  else if (!hasType(schema.type, value)) refuse(`must be of the type ${schema.type}`);
  else if (typeof value === 'string') checkText(schema, value, refuse);
  else if (typeof value === 'number') checkNumber(schema, value, refuse);
  else if (Array.isArray(value)) return checkList(schema, value, path, details);
  else if (typeof value === 'object' && value !== null) return checkObject(schema, value, path, details);
  return value;
}

function hasType(type: string | undefined, value: unknown): boolean {
  if (type === undefined) return true;
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function checkAny(schemas: readonly Schema[], value: unknown, path: string, details: ErrorDetail[]): unknown {
  let closest: ErrorDetail[] = [];
  for (const schema of schemas) {
    const found: ErrorDetail[] = [];
    const parsed = check(schema, value, path, found);
    if (found.length === 0) return parsed;
    if (hasType(schema.type, value)) closest = found;
  }
  details.push(...(closest.length > 0 ? closest : [{ field: path, message: 'has an invalid value' }]));
  return value;
}

function checkText(schema: Schema, value: string, refuse: (message: string) => void): void {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (value.length < minLength) refuse(`must have at least ${minLength} characters`);
  else if (value.length > maxLength) refuse(`must have at most ${maxLength} characters`);
  else if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) refuse('has the wrong format');
  else if (value.includes('\0')) refuse('must be well-formed Unicode without NUL characters');
}

function checkNumber({ minimum, maximum }: Schema, value: number, refuse: (message: string) => void): void {
  if (minimum !== undefined && value < minimum) refuse(`must be at least ${minimum}`);
  else if (maximum !== undefined && value > maximum) refuse(`must be at most ${maximum}`);
}

function checkList(schema: Schema, value: unknown[], path: string, details: ErrorDetail[]): unknown[] {
  const { items = {}, minItems = 0, maxItems = Infinity } = schema;
  if (value.length < minItems) details.push({ field: path, message: `must have at least ${minItems} items` });
  if (value.length > maxItems) details.push({ field: path, message: `must have at most ${maxItems} items` });
  return value.map((item, index) => check(items, item, join(path, String(index)), details));
}

function checkObject(schema: Schema, value: object, path: string, details: ErrorDetail[]): object {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = new Map<string, unknown>(Object.entries(value));
  const output: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    const fieldValue = fields.get(name);
    if (fieldValue !== undefined) output[name] = check(field, fieldValue, join(path, name), details);
    else if (field.default !== undefined) output[name] = structuredClone(field.default);
    else if (required.includes(name)) details.push({ field: join(path, name), message: 'is required' });
    fields.delete(name);
  }
  for (const [name, other] of fields) {
    if (additionalProperties === false) details.push({ field: join(path, name), message: 'is unknown' });
    else output[name] = other;
  }
  return output;
}

const join = (path: string, name: string): string => (path ? `${path}.${name}` : name);
