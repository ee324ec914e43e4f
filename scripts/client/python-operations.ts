import {
  createPythonTypes,
  escapeText,
  isNullable,
  type PythonTypes,
  type Schema,
  toClassName,
  toParameter,
} from './python-types.ts';

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

/** The parts of an OpenAPI document that the generator reads. */
export interface OpenApi {
  info: { title: string; version: string };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

interface Endpoint extends Operation {
  path: string;
  method: string;
}

/** Operations with bytes instead of JSON. The library has `attachments.upload` and `attachments.download` for them. */
export const operationsWithFiles: readonly string[] = ['create_attachment', 'download_attachment'];

/** Methods whose name does not follow from the operation. */
const methodNames: Record<string, string> = {
  ask_in_thread: 'ask_in_thread',
  send_messages: 'send_batch',
};

/** The method of an operation: its id without the noun, which is the name of the object that has the method. */
function toMethod({ operationId, tags }: Operation): string {
  const noun = tags[0] ?? '';
  const words = operationId.split('_').filter((word) => word !== noun && `${word}s` !== noun);
  return methodNames[operationId] ?? words.join('_');
}

/** The class of a noun. A type of the API can have the name of the noun. */
const toNounClass = (noun: string): string => `${toClassName(noun)}Operations`;

interface Field {
  name: string;
  type: string;
  isRequired: boolean;
  isNullable: boolean;
  description: string;
}

function listFields(endpoint: Endpoint, types: PythonTypes): Field[] {
  const { operationId, method, parameters, requestBody } = endpoint;
  const body = requestBody?.content['application/json']?.schema ?? {};
  const all = [
    ...parameters
      .filter(({ in: place }) => place !== 'header')
      .map(({ name, schema, required = false, description = '' }) => ({
        name,
        schema,
        required,
        description,
      })),
    ...Object.entries(body.properties ?? {}).map(([name, schema]) => ({
      name,
      schema,
      required: body.required?.includes(name) ?? false,
      description: schema.description ?? '',
    })),
  ];
  const fields = all.map(({ name, schema, required, description }) => ({
    name,
    type: types.annotate(schema, `${toClassName(operationId)}${toClassName(name)}`, 'Sequence'),
    isRequired: required,
    isNullable: method === 'patch' && isNullable(schema),
    description,
  }));
  return fields.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

const hasKey = ({ parameters }: Operation): boolean =>
  parameters.some(({ name }) => name === 'Idempotency-Key');

interface Result {
  type: string;
  /** For a list: the field with the items. */
  items?: string;
}

function readResult({ operationId, method, responses }: Endpoint, types: PythonTypes): Result {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const [[mediaType, { schema }] = ['', { schema: {} as Schema }]] = Object.entries(success?.content ?? {});
  if (mediaType === '') return { type: 'None' };
  if (mediaType !== 'application/json') return { type: 'str' };
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => name !== 'next_cursor');
  const [[name, list] = ['', {} as Schema]] = fields;
  if (method === 'get' && fields.length === 1 && list.items) {
    const item = types.annotate(list.items, toClassName(`${operationId}_item`), 'list');
    return { type: `Pages[${item}]`, items: name };
  }
  return { type: types.annotate(schema, `${toClassName(operationId)}Result`, 'list') };
}

function renderMethod(endpoint: Endpoint, types: PythonTypes): string {
  const { operationId, summary, description = '' } = endpoint;
  const fields = listFields(endpoint, types);
  const { type, items } = readResult(endpoint, types);
  const isList = items !== undefined;
  const shown = fields.filter(({ name }) => name !== 'cursor' || !isList);
  const required = shown.filter(({ isRequired }) => isRequired);
  const optional = shown.filter(({ isRequired }) => !isRequired);
  const parameters = [
    'self',
    ...required.map(({ name, type: of }) => `${toParameter(name)}: ${of}`),
    '*',
    ...optional.map(({ name, type: of, isNullable: canBeNull }) =>
      canBeNull
        ? `${toParameter(name)}: ${of} | Unset = UNSET`
        : `${toParameter(name)}: ${of.replace(/ \| None$/, '')} | None = None`,
    ),
    ...(hasKey(endpoint) ? ['idempotency_key: str | None = None'] : []),
    'timeout: float | None = None',
  ];
  const input = shown.map(({ name }) => `            "${name}": ${toParameter(name)},`);
  const passed = [
    `"${operationId}"`,
    input.length > 0 ? `{\n${input.join('\n')}\n        }` : '{}',
    ...(isList ? [`"${items}"`] : []),
    ...(hasKey(endpoint) ? ['idempotency_key=idempotency_key'] : []),
    'timeout=timeout',
  ];
  const documented = shown
    .filter((field) => field.description !== '')
    .map((field) => `        :param ${toParameter(field.name)}: ${escapeText(field.description)}`);
  const text = [
    `        """${escapeText(summary)}.`,
    ...(description ? ['', `        ${escapeText(description).replaceAll('\n', '\n        ')}`] : []),
    ...(documented.length > 0 ? ['', ...documented] : []),
    '        """',
  ].join('\n');
  const call = `self._${isList ? 'pages' : 'call'}(${passed.join(', ')})`;
  const body = type === 'None' ? call : `return ${call}`;
  const signature = parameters.map((parameter) => `        ${parameter},`).join('\n');
  return `    def ${toMethod(endpoint)}(\n${signature}\n    ) -> ${type}:\n${text}\n        ${body}\n`;
}

function renderRow(endpoint: Endpoint): string {
  const { operationId, method, path, requestBody } = endpoint;
  const body = requestBody?.content['application/json']?.schema.properties ?? {};
  const nullable = Object.keys(body).filter((name) => method === 'patch' && isNullable(body[name] ?? {}));
  const extra = [
    ...(hasKey(endpoint) ? ['has_key=True'] : []),
    ...(nullable.length > 0 ? [`nullable=(${nullable.map((name) => `"${name}", `).join('')})`] : []),
  ];
  const row = [`"${method.toUpperCase()}"`, `"${path}"`, ...extra].join(', ');
  return `    "${operationId}": Operation(${row}),`;
}

const imports = `from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ._calls import UNSET, Caller, Noun, Operation, Pages, Unset
`;

/** The Python module with a class for each noun, a method for each operation, and the types of their results. */
export function renderPythonOperations(document: OpenApi): string {
  const types = createPythonTypes(document.components.schemas);
  const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Endpoint => ({ ...operation, path, method })),
  );
  const withJson = endpoints.filter(({ operationId }) => !operationsWithFiles.includes(operationId));
  const nouns = [...new Set(withJson.map(({ tags }) => tags[0] ?? ''))].sort();
  const classes = nouns.map((noun) => {
    const methods = withJson
      .filter(({ tags }) => tags[0] === noun)
      .map((endpoint) => renderMethod(endpoint, types));
    const { description = '' } = document.tags.find(({ name }) => name === noun) ?? {};
    const text = `    """${escapeText(description || `Operations of ${noun}.`)}"""\n`;
    return `class ${toNounClass(noun)}(Noun):\n${text}\n${methods.join('\n')}`;
  });
  const attributes = nouns.map((noun) => `        self.${noun} = ${toNounClass(noun)}(caller)`);
  return [
    `"""Operations and types of the API. Generated by npm run generate from the API description. Do not edit."""\n\n${imports}`,
    `OPERATIONS: dict[str, Operation] = {\n${withJson.map(renderRow).join('\n')}\n}\n`,
    types.render(),
    ...classes,
    `class Nouns:\n    """Every operation, by noun."""\n\n    def __init__(self, caller: Caller) -> None:\n${attributes.join('\n')}\n`,
  ].join('\n\n');
}
