import { ContentBlockSchema, type ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Exchange } from '../../../src/transports/mcp/protocol/exchange.ts';
import type { Tool } from '../../../src/transports/mcp/tools/tools.ts';
import { defineOperation, toolHints } from '../../../src/operations/define.ts';

type FixtureInput = Record<string, unknown>;

interface Fixture {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  properties?: Record<string, object>;
  /** Replaces the whole schema of the arguments. */
  schema?: Tool['definition']['inputSchema'];
}

const shown = z.object({ content: z.array(ContentBlockSchema) });

function buildOperation(
  { name, description }: Fixture,
  answer: (given: FixtureInput) => Promise<ContentBlock[]>,
) {
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

function buildTool(fixture: Fixture, answer: (given: FixtureInput) => Promise<ContentBlock[]>): Tool {
  const { name, description, properties = {}, schema } = fixture;
  const required = Object.keys(properties);
  return {
    operation: buildOperation(fixture, answer),
    definition: {
      name,
      description,
      inputSchema: schema ?? { type: 'object', properties, required, additionalProperties: false },
      annotations: toolHints.read,
    },
    page_field: undefined,
    coerce: (args) => args,
    showsFeed: false,
    content: (output) => shown.parse(output).content,
  };
}

/** A tool that the suite names and that answers content. */
export function definePlainFixture(fixture: Fixture, answer: (given: FixtureInput) => ContentBlock[]): Tool {
  return buildTool(fixture, async (given) => answer(given));
}

/** A tool that the suite names and that has something to say to the client before it answers. */
export function defineInteractiveFixture(
  fixture: Fixture,
  speak: (exchange: Exchange, given: FixtureInput) => Promise<ContentBlock[]>,
): Tool {
  const unasked = async () => [];
  return {
    ...buildTool(fixture, unasked),
    sendsMessages: true,
    createRun: ({ exchange }) => ({
      operation: buildOperation(fixture, (given) => speak(exchange, given)),
      onResponseSent: () => undefined,
    }),
  };
}

export function textContent(words: string): ContentBlock {
  return { type: 'text', text: words };
}
