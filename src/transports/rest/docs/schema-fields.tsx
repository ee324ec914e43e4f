import type { Json } from '../openapi/schemas.ts';
import { Markdown } from './markdown.tsx';

/** A JSON Schema of the document. */
export interface Schema extends Json {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
}

/** The id of the heading of a named schema. */
function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** What a value can be, with links to named schemas. */
export function Type({ schema }: { schema: Schema }) {
  const { $ref, const: only, enum: values, items, type } = schema;
  const variants = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return <a href={`#${schemaAnchor(name)}`}>{name}</a>;
  }
  if (variants) {
    return (
      <>
        {variants.map((variant, place) => (
          <span key={place}>
            {place > 0 && ' or '}
            <Type schema={variant} />
          </span>
        ))}
      </>
    );
  }
  if (only !== undefined) return <code>{JSON.stringify(only)}</code>;
  if (values) return <code>{values.map((value) => JSON.stringify(value)).join(' | ')}</code>;
  if (items) {
    return (
      <>
        list of <Type schema={items} />
      </>
    );
  }
  return <>{[type ?? 'any'].flat().join(' or ')}</>;
}

/** The fields of an object, with those of nested objects. */
export function Fields({ schema }: { schema: Schema }) {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties);
  if (names.length === 0) return <p>No fields.</p>;
  return (
    <dl class="fields">
      {Object.entries(properties).map(([name, field]) => {
        const nested = field.properties ?? field.items?.properties;
        return (
          <div key={name}>
            <dt>
              <code>{name}</code>{' '}
              <span class="type">
                <Type schema={field} />
                {!required.includes(name) && ', optional'}
              </span>
            </dt>
            <dd>
              {field.description}
              {nested && <Fields schema={field.items?.properties ? field.items : field} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The named schemas of a document. */
export function Schemas({ schemas }: { schemas: Readonly<Record<string, Schema>> }) {
  return (
    <section aria-labelledby="schemas">
      <h2 id="schemas">Schemas</h2>
      {Object.entries(schemas).map(([name, schema]) => (
        <div key={name} class="group">
          <h3 id={schemaAnchor(name)}>{name}</h3>
          {schema.description !== undefined && <Markdown text={schema.description} />}
          <Fields schema={schema} />
        </div>
      ))}
    </section>
  );
}

/** A value as JSON. */
export function Example({ of }: { of: unknown }) {
  return <pre>{JSON.stringify(of, null, 2)}</pre>;
}
