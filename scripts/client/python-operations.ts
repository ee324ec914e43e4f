import {
  createPythonTypes,
  escapeText,
  isNullable,
  type PythonTypes,
  toClassName,
  toParameter,
} from './python-types.ts';
import { type ClientOperation, type OpenApiDocument, readOperations } from './read-operations.ts';
import type { Schema } from './schema-types.ts';

/** The class of a noun. A type of the API can have the name of the noun. */
const toNounClass = (noun: string): string => `${toClassName(noun)}Operations`;

interface Field {
  name: string;
  type: string;
  isRequired: boolean;
  isNullable: boolean;
  description: string;
}

function listFields({ id, verb, input }: ClientOperation, types: PythonTypes): Field[] {
  const { properties = {}, required = [] } = input ?? {};
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    type: types.annotate(schema, `${toClassName(id)}${toClassName(name)}`, 'Sequence'),
    isRequired: required.includes(name),
    isNullable: verb === 'PATCH' && isNullable(schema),
    description: schema.description ?? '',
  }));
  return fields.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

interface Result {
  type: string;
  /** For a list: the field with the items. */
  items?: string;
}

function readResult({ id, output, isText, items }: ClientOperation, types: PythonTypes): Result {
  if (!output) return { type: isText ? 'str' : 'None' };
  if (items === undefined) return { type: types.annotate(output, `${toClassName(id)}Result`, 'list') };
  const item: Schema = output.properties?.[items]?.items ?? {};
  return { type: `Pages[${types.annotate(item, toClassName(`${id}_item`), 'list')}]`, items };
}

function renderMethod(operation: ClientOperation, types: PythonTypes): string {
  const { id, words, summary, description = '', takesKey } = operation;
  const fields = listFields(operation, types);
  const { type, items } = readResult(operation, types);
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
    ...(takesKey ? ['idempotency_key: str | None = None'] : []),
    'timeout: float | None = None',
  ];
  const input = shown.map(({ name }) => `            "${name}": ${toParameter(name)},`);
  const passed = [
    `"${id}"`,
    input.length > 0 ? `{\n${input.join('\n')}\n        }` : '{}',
    ...(isList ? [`"${items}"`] : []),
    ...(takesKey ? ['idempotency_key=idempotency_key'] : []),
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
  return `    def ${words.join('_')}(\n${signature}\n    ) -> ${type}:\n${text}\n        ${body}\n`;
}

function renderRow({ id, verb, path, input, takesKey }: ClientOperation): string {
  const fields = Object.entries(input?.properties ?? {});
  const nullable = fields.flatMap(([name, schema]) => (verb === 'PATCH' && isNullable(schema) ? name : []));
  const extra = [
    ...(takesKey ? ['has_key=True'] : []),
    ...(nullable.length > 0 ? [`nullable=(${nullable.map((name) => `"${name}", `).join('')})`] : []),
  ];
  return `    "${id}": Operation(${[`"${verb}"`, `"${path}"`, ...extra].join(', ')}),`;
}

const imports = `from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ._calls import UNSET, Caller, Noun, Operation, Pages, Unset
`;

/** The Python module with a class for each noun, a method for each operation, and the types of their results. */
export function renderPythonOperations({ paths, components, tags }: OpenApiDocument): string {
  const types = createPythonTypes(components.schemas);
  const operations = readOperations(paths);
  const nouns = [...new Set(operations.map(({ noun }) => noun))].sort();
  const classes = nouns.map((noun) => {
    const own = operations.filter((operation) => operation.noun === noun);
    const methods = own.map((operation) => renderMethod(operation, types));
    const { description = '' } = tags.find(({ name }) => name === noun) ?? {};
    const text = `    """${escapeText(description || `Operations of ${noun}.`)}"""\n`;
    return `class ${toNounClass(noun)}(Noun):\n${text}\n${methods.join('\n')}`;
  });
  const attributes = nouns.map((noun) => `        self.${noun} = ${toNounClass(noun)}(caller)`);
  return [
    `"""Operations and types of the API. Generated by npm run generate from the API description. Do not edit."""\n\n${imports}`,
    `OPERATIONS: dict[str, Operation] = {\n${operations.map(renderRow).join('\n')}\n}\n`,
    types.render(),
    ...classes,
    `class Nouns:\n    """Every operation, by noun."""\n\n    def __init__(self, caller: Caller) -> None:\n${attributes.join('\n')}\n`,
  ].join('\n\n');
}
