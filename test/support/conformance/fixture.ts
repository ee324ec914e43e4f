import { ContentBlockSchema, type ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Exchange } from '../../../src/mcp/exchange.ts';
import type { Tool } from '../../../src/mcp/tools.ts';
import { defineOperation, toolHints } from '../../../src/operations/define.ts';

type Given = Record<string, unknown>;

interface Fixture {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  properties?: Record<string, object>;
  /** Replaces the whole schema of the arguments. */
  schema?: Tool['definition']['inputSchema'];
}

const shown = z.object({ content: z.array(ContentBlockSchema) });

function operationOf({ name, description }: Fixture, answer: (given: Given) => Promise<ContentBlock[]>) {
  return defineOperation({
    name,
    summary: description,
    scope: 'any',
    kind: 'read',
    input: z.record(z.string(), z.unknown()),
    output: shown,
    run: async (_, given) => ({ content: await answer(given) }),
    errors: [],
    example: { input: {}, output: { content: [] } },
  });
}

function toolFrom(fixture: Fixture, answer: (given: Given) => Promise<ContentBlock[]>): Tool {
  const { name, description, properties = {}, schema } = fixture;
  const required = Object.keys(properties);
  return {
    operation: operationOf(fixture, answer),
    definition: {
      name,
      description,
      inputSchema: schema ?? { type: 'object', properties, required, additionalProperties: false },
      annotations: toolHints.read,
    },
    page_field: undefined,
    content: (output) => shown.parse(output).content,
  };
}

/** A tool that the suite names and that answers content. */
export function plainFixture(fixture: Fixture, answer: (given: Given) => ContentBlock[]): Tool {
  return toolFrom(fixture, async (given) => answer(given));
}

/** A tool that the suite names and that has something to say to the client before it answers. */
export function speakingFixture(
  fixture: Fixture,
  speak: (exchange: Exchange, given: Given) => Promise<ContentBlock[]>,
): Tool {
  const unasked = async () => [];
  return {
    ...toolFrom(fixture, unasked),
    speaks: true,
    during: ({ exchange }) => ({
      operation: operationOf(fixture, (given) => speak(exchange, given)),
      answered: () => undefined,
    }),
  };
}

export function text(words: string): ContentBlock {
  return { type: 'text', text: words };
}
