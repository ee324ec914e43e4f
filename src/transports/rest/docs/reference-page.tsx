import { Markdown } from './markdown.tsx';
import type { Json } from '../openapi/schemas.ts';
import { renderDocsPage } from './layout.tsx';
import { Example, Fields, type Schema, Schemas, Type } from './schema-fields.tsx';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
}

type Content = Record<string, { schema: Schema; example?: Json }>;

interface Response {
  $ref?: string;
  description: string;
  content?: Content;
}

interface Call {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Response>;
}

/** The parts of the OpenAPI document that the page shows. */
interface ReferenceDocument {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Call>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
  };
}

interface Endpoint extends Call {
  path: string;
  method: string;
}

/** `/docs`: the OpenAPI document as a page. With a script, it sends requests with an access token. */
export function referencePage(folder: string, document: Json): string {
  const { info, tags, paths, components } = document as unknown as ReferenceDocument;
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]): Endpoint => ({ ...call, path, method })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    calls: endpoints.filter(({ tags: [name] }) => name === tag.name),
  }));
  return renderDocsPage({
    title: 'API reference',
    path: '/docs',
    folder,
    hasScript: true,
    contents: [
      ...groups.map(
        ({ name, calls }) =>
          [name, calls.map(({ operationId: id }) => [`#${id}`, id.replaceAll('_', ' ')] as const)] as const,
      ),
      [
        'more',
        [
          ['#errors', 'Errors'],
          ['#schemas', 'Schemas'],
        ],
      ],
    ],
    children: (
      <>
        <h1>API reference</h1>
        <Markdown text={info.description} />
        <p>
          Version {info.version}. The same as data: <a href="/v1/openapi.json">OpenAPI</a>,{' '}
          <a href="/v1/openapi-long-paths.json">OpenAPI of the long paths</a>,{' '}
          <a href="/v1/asyncapi.json">AsyncAPI</a>.
        </p>
        <Access />
        {groups.map(({ name, description, calls }) => (
          <section key={name} aria-labelledby={`group-${name}`}>
            <h2 id={`group-${name}`}>{name}</h2>
            <p>{description}</p>
            {calls.map((call) => (
              <Operation key={call.operationId} call={call} />
            ))}
          </section>
        ))}
        <section aria-labelledby="errors">
          <h2 id="errors">Errors</h2>
          <p>
            Every error is an <a href="#schema-ApiError">ApiError</a>. Its code says what is wrong.
          </p>
          <dl class="fields">
            {listErrors(components.responses, endpoints).map(([code, status, text]) => (
              <div key={code}>
                <dt id={`error-${code}`}>
                  <code>{code}</code> <span class="type">{status}</span>
                </dt>
                <dd>
                  <Markdown text={text} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
        <Schemas schemas={components.schemas} />
      </>
    ),
  });
}

/** The access token that requests carry. The script shows it. */
function Access() {
  return (
    <section class="access" aria-label="Access token" hidden>
      <p role="status" />
      <form>
        <label for="token">Access token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} required />
        <button type="submit" class="button quiet">
          Use token
        </button>
        <button type="button" class="button primary" id="sign-in">
          Sign in
        </button>
      </form>
      <button type="button" class="button quiet" id="sign-out" hidden>
        Sign out
      </button>
    </section>
  );
}

function Operation({ call }: { call: Endpoint }) {
  const { operationId, method, path, summary, description, parameters, requestBody, responses } = call;
  const body = Object.values(requestBody?.content ?? {})[0];
  const [answers, errors] = partition(responses);
  return (
    <details>
      <summary>
        <code class="method">{method.toUpperCase()}</code> <code>{path}</code> <span>{summary}</span>
      </summary>
      {/* Browsers open an element around the target of a link. */}
      <div id={operationId} class="group">
        <Markdown text={description} />
        {parameters.length > 0 && (
          <>
            <h3>Parameters</h3>
            <Fields schema={parametersSchema(parameters)} />
          </>
        )}
        {body && (
          <>
            <h3>Body</h3>
            <Fields schema={body.schema} />
          </>
        )}
        {answers.map(([status, { description: about, content = {} }]) => {
          const answer = Object.values(content)[0];
          return (
            <div class="group" key={status}>
              <h3>Response {status}</h3>
              {answer ? <Answer schema={answer.schema} /> : <Markdown text={about} />}
              {answer?.example !== undefined && <Example of={answer.example} />}
            </div>
          );
        })}
        <p>
          <b>Errors</b>{' '}
          {errors.map((code) => (
            <>
              <a href={`#error-${code}`} key={code}>
                {code}
              </a>{' '}
            </>
          ))}
        </p>
        {requestBody?.content['multipart/form-data'] === undefined && (
          <Try call={call} body={body?.example} />
        )}
      </div>
    </details>
  );
}

function Answer({ schema }: { schema: Schema }) {
  if (schema.properties) return <Fields schema={schema} />;
  return (
    <p>
      <Type schema={schema} />
    </p>
  );
}

/** Sends the request of an operation. The script shows it. */
function Try({ call, body }: { call: Endpoint; body: Json | undefined }) {
  const { operationId, method, path, parameters } = call;
  return (
    <form class="try" data-method={method} data-path={path} hidden>
      {parameters.map(({ name, in: place, required, example, schema }) => {
        const isMade = name === 'Idempotency-Key';
        const id = `${operationId}-${name}`;
        return (
          <div key={name}>
            <label for={id}>{name}</label>
            <input
              {...{ id, name, required: required && !isMade }}
              placeholder={
                isMade
                  ? 'made for each request'
                  : JSON.stringify(example ?? schema['default'] ?? '').replaceAll('"', '')
              }
              data-in={place}
              autocomplete="off"
            />
          </div>
        );
      })}
      {body !== undefined && (
        <div>
          <label for={`${operationId}-body`}>Body</label>
          <textarea id={`${operationId}-body`} name="body" rows={6} spellcheck={false}>
            {JSON.stringify(body, null, 2)}
          </textarea>
        </div>
      )}
      <button type="submit" class="button primary">
        Send
      </button>
      <output />
    </form>
  );
}

function parametersSchema(parameters: readonly Parameter[]): Schema {
  const properties = Object.fromEntries(
    parameters.map(({ name, description, schema }) => [name, { ...schema, description }]),
  );
  return { properties, required: parameters.filter(({ required }) => required).map(({ name }) => name) };
}

/** The successful responses, and the codes of the others. */
function partition(responses: Call['responses']): [[string, Response][], string[]] {
  const entries = Object.entries(responses);
  const isError = ([, { $ref, content }]: [string, Response]) =>
    $ref !== undefined || JSON.stringify(content ?? '').includes('/ApiError"');
  return [
    entries.filter((one) => !isError(one)),
    entries.filter(isError).flatMap(([, response]) => codesOf(response)),
  ];
}

function codesOf({ $ref, description }: Response): string[] {
  const name = $ref?.split('/').at(-1);
  return name === undefined ? [...errorTexts(description).keys()] : name.split('-');
}

/** The text of each code in the description of a response. */
function errorTexts(description: string): Map<string, string> {
  const found = description.matchAll(/^`(\w+)`: (.*)$/gm);
  return new Map(Array.from(found, ([, code = '', text = '']) => [code, text]));
}

/** Every error code with its status and text, by status. */
function listErrors(
  shared: Record<string, Response>,
  endpoints: readonly Endpoint[],
): (readonly [string, string, string])[] {
  const found = new Map<string, readonly [string, string, string]>();
  for (const { responses } of endpoints)
    for (const [status, response] of Object.entries(responses)) {
      const { description } = shared[response.$ref?.split('/').at(-1) ?? ''] ?? response;
      for (const [code, text] of errorTexts(description)) found.set(code, [code, status, text]);
    }
  return [...found.values()].toSorted(([, a], [, b]) => Number(a) - Number(b));
}
