import type { Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { Operation } from '../operations/define.ts';
import { inputSchema, outputSchema } from './json-schemas.ts';
import { pageField } from './page.ts';

export interface Tool {
  operation: Operation;
  /** As `tools/list` shows it. */
  definition: ToolDefinition;
  /** The field by which a read can be asked for fewer items. */
  page_field: string | undefined;
}

/** The tool faces of the catalogue by name; made once, since schemas are dear to make. */
export function toolsOf(catalogue: readonly Operation[]): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  for (const operation of catalogue) {
    const face = operation.tool;
    if (!face) continue;
    const name = face.name ?? operation.name;
    if (tools.has(name)) throw new Error(`two operations have a tool named ${name}`);
    const { description, annotations } = face;
    const schemas = {
      inputSchema: inputSchema(operation.input, operation.kind === 'write'),
      outputSchema: outputSchema(operation.output),
    };
    const definition = { name, title: operation.summary, description, ...schemas, annotations };
    tools.set(name, { operation, definition, page_field: pageField(operation, schemas.inputSchema) });
  }
  return tools;
}
