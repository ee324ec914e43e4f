import { isEvent, referredName, type Schema } from './schema-types.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Body {
  content?: Record<string, { schema: Schema }>;
}

interface Endpoint {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Body>;
}

/** The parts of an OpenAPI document that the generator reads. */
export interface OpenApiDocument {
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Endpoint>>;
  components: { schemas: Record<string, Schema> };
}

/** One method of a library. */
export interface ClientOperation {
  id: string;
  noun: string;
  /** The words of its name, without the noun. */
  words: string[];
  /** In PascalCase: the prefix of its types. */
  typeName: string;
  summary: string;
  description: string | undefined;
  verb: string;
  path: string;
  /** Whether the request takes an Idempotency-Key. */
  takesKey: boolean;
  /** Path parameters together with the query or the body; undefined without any. */
  input: Schema | undefined;
  /** Undefined for an answer without JSON. */
  output: Schema | undefined;
  /** Whether the answer is a text. */
  isText: boolean;
  /** The property with the items of a list. */
  items: string | undefined;
}

/** Reads the operations that the libraries generate. Files are sent and received by hand-written methods. */
export function readOperations(paths: OpenApiDocument['paths']): ClientOperation[] {
  return Object.entries(paths).flatMap(([path, endpoints]) =>
    Object.entries(endpoints).flatMap(([verb, endpoint]) => {
      const isFile = '302' in endpoint.responses || 'multipart/form-data' in contentOf(endpoint.requestBody);
      return isFile ? [] : [readOperation(path, verb, endpoint)];
    }),
  );
}

function readOperation(path: string, verb: string, endpoint: Endpoint): ClientOperation {
  const { operationId: id, tags, summary, description, parameters = [], requestBody, responses } = endpoint;
  const [noun = ''] = tags;
  const answer = responses['200'] ?? responses['201'] ?? {};
  const output = jsonOf(answer);
  return {
    id,
    noun,
    // A batch has the name of the call that it repeats.
    words: [...withoutNoun(id.split('_'), noun), ...(path.endsWith(':batch') ? ['batch'] : [])],
    typeName: toPascalCase(id.split('_')),
    summary,
    description,
    verb: verb.toUpperCase(),
    path,
    takesKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    input: joinInput(parameters, jsonOf(requestBody ?? {})),
    output,
    isText: !output && Object.keys(contentOf(answer)).length > 0,
    items: output && verb === 'get' ? findItems(output) : undefined,
  };
}

const contentOf = (body: Body | undefined) => body?.content ?? {};
const jsonOf = (body: Body): Schema | undefined => contentOf(body)['application/json']?.schema;

/** The records that calls answer with. Events, and what only events have, are types of their own. */
export function listRecords(
  operations: readonly ClientOperation[],
  schemas: Readonly<Record<string, Schema>>,
): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  function visit(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as Schema;
    const name = typeof $ref === 'string' ? referredName($ref) : undefined;
    const schema = name === undefined ? undefined : schemas[name];
    if (name !== undefined && schema && !(name in found) && !isEvent(schema)) {
      found[name] = schema;
      visit(schema);
    }
    for (const part of Object.values(value)) visit(part);
  }
  for (const { output } of operations) visit(output);
  return found;
}

/** A request has a query or a body, never both: one object holds all input. */
function joinInput(parameters: readonly Parameter[], body: Schema | undefined): Schema | undefined {
  const inputs = parameters.filter((parameter) => parameter.in !== 'header');
  const properties = Object.fromEntries(
    inputs.map(({ name, description, schema }) => [name, { ...schema, ...(description && { description }) }]),
  );
  const required = inputs.filter((parameter) => parameter.required).map(({ name }) => name);
  const all = { ...properties, ...body?.properties };
  if (Object.keys(all).length === 0) return undefined;
  return { type: 'object', properties: all, required: [...required, ...(body?.required ?? [])] };
}

/** A list is an answer with one array, and nothing else but the cursor of the next page. */
function findItems({ properties = {} }: Schema): string | undefined {
  const [first, ...others] = Object.keys(properties).filter((name) => name !== 'next_cursor');
  return first !== undefined && others.length === 0 && properties[first]?.type === 'array'
    ? first
    : undefined;
}

/** `list_threads` is `list`, `add_thread_member` is `add_member`; `ask_in_thread` keeps its name. */
function withoutNoun(words: readonly string[], noun: string): string[] {
  const singular = noun.replace(/s$/, '');
  const isNoun = (word: string, index: number) =>
    (word === noun || word === singular) && words[index - 1] !== 'in';
  const left = words.filter((word, index) => !isNoun(word, index));
  return left.length > 0 ? left : [...words];
}

/** `['add', 'member']` becomes `AddMember`. */
export function toPascalCase(words: readonly string[]): string {
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
