import { toPascalCase } from './read-operations.ts';
import type { Schema } from './schema-types.ts';

export interface PythonTypes {
  /** The Python annotation for a schema. Objects become `TypedDict` classes; `name` is the name of a new one. */
  annotate(schema: Schema, name: string, list: 'list' | 'Sequence'): string;
  /** The definitions of all types so far, in the order in which Python needs them. */
  render(): string;
}

const keywords = new Set(['and', 'as', 'from', 'import', 'in', 'is', 'not', 'or', 'with']);

/** A name that Python accepts for a parameter: `from` becomes `from_`. */
export const toParameter = (name: string): string => (keywords.has(name) ? `${name}_` : name);

/** `contact_request` becomes `ContactRequest`. */
export const toClassName = (name: string): string => toPascalCase(name.split('_'));

/** Whether null is a value of the schema. */
export const isNullable = ({ type, anyOf = [] }: Schema): boolean =>
  type === 'null' || (Array.isArray(type) && type.includes('null')) || anyOf.some(isNullable);

const scalars: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

const union = (parts: readonly string[]): string => [...new Set(parts)].join(' | ');

/** Text for a docstring. */
export const escapeText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"""', "'''");

/** @param components the named schemas of the document; those that are used become types. */
export function createPythonTypes(components: Record<string, Schema>): PythonTypes {
  const definitions = new Map<string, string>();
  const aliases = new Map<string, string>();
  /** The class of each shape, so that one shape has one class. */
  const classes = new Map<string, string>();
  const shapeOf = ({ properties, required }: Schema): string =>
    JSON.stringify([properties, required], (key, value: unknown) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    );
  for (const [name, schema] of Object.entries(components)) {
    if (!classes.has(shapeOf(schema))) classes.set(shapeOf(schema), name);
  }

  function define(schema: Schema, name: string): string {
    if (definitions.has(name)) return name;
    definitions.set(name, ''); // for types that refer to themselves
    const fields = Object.entries(schema.properties ?? {}).map(([field, value]) => {
      const type = annotate(value, `${name}${toClassName(field)}`, 'list');
      const isRequired = schema.required?.includes(field) ?? false;
      return { field, type: isRequired ? type : `NotRequired[${type}]`, description: value.description };
    });
    if (fields.some(({ field }) => toParameter(field) !== field)) {
      const entries = fields.map(({ field, type }) => `        "${field}": "${type.replaceAll('"', "'")}",`);
      definitions.set(
        name,
        `${name} = TypedDict(\n    "${name}",\n    {\n${entries.join('\n')}\n    },\n)\n`,
      );
      return name;
    }
    const text = schema.description ? `    """${escapeText(schema.description)}"""\n\n` : '';
    const lines = fields.map(({ field, type, description }) => {
      const comment = description ? `\n    """${escapeText(description)}"""` : '';
      return `    ${field}: ${type}${comment}`;
    });
    definitions.set(name, `class ${name}(TypedDict):\n${text}${lines.join('\n') || '    pass'}\n`);
    return name;
  }

  function annotate(schema: Schema, name: string, list: 'list' | 'Sequence'): string {
    const { $ref, type, oneOf, anyOf, properties, items } = schema;
    if ($ref !== undefined) {
      const target = $ref.split('/').at(-1) ?? '';
      return define(components[target] ?? {}, target);
    }
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    if (oneOf) {
      const alias = name.replace(/^EventPage/, '').replace(/s$/, '');
      aliases.set(alias, union(oneOf.map((option) => annotate(option, alias, list))));
      return alias;
    }
    if (anyOf) return union(anyOf.map((option) => annotate(option, name, list)));
    if (Array.isArray(type)) return union(type.map((one) => annotate({ ...schema, type: one }, name, list)));
    if (type === 'array') return `${list}[${annotate(items ?? {}, name.replace(/s$/, ''), list)}]`;
    if (properties) return define(schema, classes.get(shapeOf(schema)) ?? remember(schema, name));
    return type === 'object' ? 'dict[str, Any]' : (scalars[type ?? ''] ?? 'Any');
  }

  function remember(schema: Schema, name: string): string {
    classes.set(shapeOf(schema), name);
    return name;
  }

  return {
    annotate,
    render: () =>
      [
        ...[...definitions.values()].sort(),
        ...[...aliases].map(([name, type]) => `${name}: TypeAlias = "${type}"\n`),
      ].join('\n\n'),
  };
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}
