import type { ContentBlock, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { Actor } from '../domain/actor.ts';
import type { Operation, ToolFace } from '../operations/define.ts';
import type { Standing } from '../realtime/contract.ts';
import type { Exchange } from './exchange.ts';
import { inputSchema, outputSchema } from './json-schemas.ts';
import { pageField } from './page.ts';

export interface Tool {
  operation: Operation;
  /** As `tools/list` shows it. */
  definition: ToolDefinition;
  /** The field by which a read can be asked for fewer items. */
  page_field: string | undefined;
  /** Refuses who may not call it, where one scope does not say so. */
  permit?(actor: Actor): void;
  /** What its answer says of where the feed of the agent stands now. */
  standing?(answer: Record<string, unknown>): Partial<Standing>;
  /** How its output is shown, where JSON text is not the way. */
  content?(output: Record<string, unknown>): ContentBlock[];
  /** Whether it may have something to say before the answer, whatever its client declared. */
  speaks?: true;
  /** For a tool that needs more of a call than its input: what runs in place of `operation`. */
  during?(call: { actor: Actor; exchange: Exchange }): During;
}

export interface During {
  operation: Operation;
  /** To be called when the caller has the answer. */
  answered(): void;
}

/** The tool faces of the catalogue, and other tools, by name; made once, since schemas are dear to make. */
export function toolsOf(
  catalogue: readonly Operation[],
  others: readonly Tool[] = [],
): ReadonlyMap<string, Tool> {
  const tools = new Map(others.map((tool) => [tool.definition.name, tool]));
  for (const operation of catalogue) {
    const face = operation.tool;
    if (!face) continue;
    const name = face.name ?? operation.name;
    if (tools.has(name)) throw new Error(`two operations have a tool named ${name}`);
    tools.set(name, toolOf(operation, face));
  }
  return tools;
}

/** One tool, without a place in the catalogue. */
export function toolOf(
  operation: Operation,
  { name = operation.name, description, annotations }: ToolFace,
): Tool {
  const schemas = {
    inputSchema: inputSchema(operation.input, operation.kind === 'write'),
    outputSchema: outputSchema(operation.output),
  };
  const definition = { name, title: operation.summary, description, ...schemas, annotations };
  return { operation, definition, page_field: pageField(operation, schemas.inputSchema) };
}
