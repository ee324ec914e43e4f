import { z } from 'zod';
import type { Operation } from '../../../src/operations/define.ts';

/** The largest JSON bodies of the transports, with room for the fields around a value. */
export const maxBodyBytes = { rest: 250_000, mcp: 4_000_000 };

interface FieldSchema {
  type?: string;
  maxLength?: number;
  maxItems?: number;
  items?: FieldSchema;
  properties?: Record<string, FieldSchema>;
  enum?: unknown[];
  anyOf?: FieldSchema[];
  oneOf?: FieldSchema[];
  maximum?: number;
}

export interface AttackOptions {
  valid: Record<string, unknown>;
  bytes: number;
  attempt: number;
}

/** A way to make the input of an operation as large or as nested as its limits allow, or more so. */
export interface Attack {
  name: string;
  /** JSON of at most `bytes`. `valid` are fields that name existing records. */
  build(operation: Operation, options: AttackOptions): string;
}

function fieldsOf({ input }: Operation): Record<string, FieldSchema> {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as FieldSchema;
  const alternatives = schema.anyOf ?? schema.oneOf ?? [];
  return Object.assign({}, ...alternatives.map(({ properties }) => properties), schema.properties);
}

/** Text of many bytes: the fields without a maximum in their schema have one in bytes. */
function largeText(unit: string, { maxLength }: FieldSchema, attempt: number): string {
  const bytes = Math.min(maxLength ?? 32_000, 32_000);
  const room = maxLength === undefined ? bytes / Buffer.byteLength(unit) : bytes / unit.length;
  return `${attempt}${unit.repeat(Math.max(0, Math.floor(room) - 1))}`.slice(0, maxLength);
}

function largeValue(unit: string, schema: FieldSchema, attempt: number): unknown {
  const one = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema;
  if (one.enum) return one.enum[0];
  if (one.type === 'string') return largeText(unit, one, attempt);
  if (one.type === 'integer') return one.maximum ?? 1;
  if (one.type === 'boolean') return true;
  if (one.type === 'array') {
    const items = Array.from({ length: Math.min(one.maxItems ?? 100, 100) }, () => one.items ?? {});
    return items.map((item, index) => largeValue(unit, item, attempt * 100 + index));
  }
  if (one.properties) {
    const entries = Object.entries(one.properties);
    return Object.fromEntries(entries.map(([name, field]) => [name, largeValue(unit, field, attempt)]));
  }
  return { [unit]: unit.repeat(3_000 / Buffer.byteLength(unit)) };
}

/** All fields as large as their schemas allow. */
function largestFields(name: string, unit: string): Attack {
  return {
    name,
    build(operation, { valid, attempt }) {
      const fields = Object.entries(fieldsOf(operation));
      const input = fields.map(([field, schema]) => [field, largeValue(unit, schema, attempt)]);
      return JSON.stringify({ ...Object.fromEntries(input), ...valid });
    },
  };
}

/** Every field with the same JSON text, which share the room of a body. */
function everyField(name: string, build: (bytes: number) => string): Attack {
  return {
    name,
    build(operation, { valid, bytes }) {
      const names = Object.keys(fieldsOf(operation)).filter((field) => !Object.hasOwn(valid, field));
      const value = build(Math.floor(bytes / Math.max(names.length, 1)));
      const fields = Object.entries(valid).map(
        ([field, one]) => `${JSON.stringify(field)}:${JSON.stringify(one)}`,
      );
      return `{${[...fields, ...names.map((field) => `${JSON.stringify(field)}:${value}`)].join(',')}}`;
    },
  };
}

/** Fields that no operation has. */
function unknownFields(name: string, fieldName: (index: number, bytes: number) => string): Attack {
  return {
    name,
    build(_operation, { valid, bytes }) {
      const input: Record<string, unknown> = { ...valid };
      for (let index = 0, used = 0; used < bytes - 10_000; index += 1) {
        const field = fieldName(index, bytes);
        input[field] = 0;
        used += Buffer.byteLength(field) + 5;
      }
      return JSON.stringify(input);
    },
  };
}

const repeatTo = (bytes: number, unit: string) => unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));

export const attacks: readonly Attack[] = [
  largestFields('the largest fields, Chinese', '中文'),
  largestFields('the largest fields, Thai', 'ที่นี่น้ำดีที่สุด'),
  largestFields('the largest fields, marks', 'a\u0301\u0323'),
  largestFields('the largest fields, markup', '[*`<&'),
  everyField('longer texts than any field takes', (bytes) => JSON.stringify(repeatTo(bytes, 'ß'))),
  everyField('controls in texts', (bytes) => JSON.stringify(repeatTo(bytes / 6, '\u0001'))),
  everyField('arrays of numbers', (bytes) => `[${repeatTo(bytes - 1, '0,')}0]`),
  everyField('arrays of texts', (bytes) => `[${repeatTo(bytes - 3, '"x",')}"y"]`),
  everyField('arrays of objects', (bytes) => `[${repeatTo(bytes - 2, '{},')}{}]`),
  everyField('nested arrays', (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
  everyField('nested objects', (bytes) => '{"a":'.repeat(bytes / 6) + '0' + '}'.repeat(bytes / 6)),
  everyField('nested JSON in texts', (bytes) =>
    JSON.stringify('['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
  ),
  everyField('lists in texts', (bytes) => JSON.stringify(`[${repeatTo(bytes - 2, '1,')}1]`)),
  unknownFields('unknown short fields', (index) => `f${index}`),
  unknownFields('unknown long fields', (index) => `${'threadid'.repeat(500)}${index}`),
  unknownFields('one unknown field', (index, bytes) => `${'x'.repeat(bytes - 10_000)}${index}`),
];
