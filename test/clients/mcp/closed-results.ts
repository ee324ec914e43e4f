import { Ajv2020 } from 'ajv/dist/2020.js';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { createAcknowledgeEventsTool } from '../../../src/transports/mcp/tools/acknowledge-events-tool.ts';
import { createTools } from '../../../src/transports/mcp/tools/tools.ts';
import { createWaitForEventsTool } from '../../../src/transports/mcp/tools/wait-for-events-tool.ts';

/** Only the definitions of the tools are read. */
const unused: never = undefined as never;

/** The tools of the service, as it publishes them. Created at the first use: creating schemas is slow. */
let published: ReturnType<typeof createTools> | undefined;

export function publishedTools() {
  published ??= createTools(catalogue, [
    createWaitForEventsTool({ realtime: unused }),
    createAcknowledgeEventsTool({ realtime: unused }),
  ]);
  return published;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

/**
 * Holds a result to the output schema of its tool, in which every object has only the fields that it names. Objects without named fields,
 * such as metadata, can have any. Tools that only a test adds are left out.
 * @throws {Error} with the fields that the schema does not name
 */
export function checkToolResult(name: string, result: unknown): void {
  const schema = publishedTools().get(name)?.definition.outputSchema;
  if (!schema) return;
  const validate = compiled.get(name) ?? ajv.compile(closeOutline(schema));
  compiled.set(name, validate);
  if (validate(result)) return;
  const faults = (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
  throw new Error(`The result of ${name} is not as its output schema says: ${faults.join('; ')}`);
}

interface Outline {
  items?: Outline;
  properties?: Record<string, Outline> | undefined;
}

/** The same outline, whose objects have no fields but those that it names. */
function closeOutline({ items, properties = {}, ...rest }: Outline): object {
  const fields = Object.entries(properties).map(([name, field]) => [name, closeOutline(field)]);
  return {
    ...rest,
    ...(items && { items: closeOutline(items) }),
    ...(fields.length > 0 && { properties: Object.fromEntries(fields), additionalProperties: false }),
  };
}

/** Holds the response to a call of a tool to its output schema, if it has a result. */
export function checkToolResponse(message: object, response: unknown): void {
  const { method, params } = message as { method?: unknown; params?: { name?: unknown } };
  const { structuredContent } = Object(Object(response).result);
  if (method !== 'tools/call' || structuredContent === undefined) return;
  checkToolResult(String(params?.name), structuredContent);
}
