import type { PromptMessage } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Additions, OtherResource } from '../../../src/transports/mcp/additions.ts';
import type { Prompt } from '../../../src/transports/mcp/prompts/prompts.ts';
import { defineOperation } from '../../../src/operations/define.ts';
import { onePixelPng } from './sample-media.ts';
import { multiRoundPrompt, multiRoundTools } from './multi-round-tools.ts';
import { fileTasks } from './file-tasks.ts';
import { taskTools } from './task-tools.ts';
import { plainTools } from './plain-tools.ts';
import { interactiveTools } from './interactive-tools.ts';

/** Everything that the conformance suite wants to find at a server, by the names that it gave them. */
export const conformanceFixtures: Additions = {
  tools: [...plainTools, ...interactiveTools, ...multiRoundTools, ...taskTools],
  tasks: fileTasks,
  resources: [
    resource('test://static-text', 'text/plain', () => ({
      text: 'This is the content of the static text resource.',
    })),
    resource('test://static-binary', 'image/png', () => ({ blob: onePixelPng })),
    resource('test://watched-resource', 'text/plain', () => ({ text: 'Nothing happens here.' })),
    resource('test://template/{id}/data', 'application/json', ({ id }) => ({
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
    })),
  ],
  prompts: [...prompts(), multiRoundPrompt],
};

function resource(uri: string, mime_type: string, contents: OtherResource['contents']): OtherResource {
  const name = uri.replace('test://', '');
  const operation = defineOperation({
    name,
    summary: name,
    scope: 'any',
    kind: 'read',
    input: z.looseObject({}),
    output: z.looseObject({}),
    run: async (_, given) => given,
    resource: { uri, name, description: 'Of the conformance suite.' },
    errors: [],
    example: { input: {}, output: {} },
  });
  return { operation, mime_type, contents };
}

function prompts(): Prompt[] {
  const completing = defineOperation({
    name: 'test_completion',
    summary: 'Completes nothing',
    scope: 'any',
    kind: 'read',
    input: z.looseObject({}),
    output: z.object({}),
    run: async () => ({}),
    errors: [],
    example: { input: {}, output: {} },
  });
  const requiredArguments = (...names: string[]) => names.map((name) => ({ name, required: true }));
  return [
    {
      definition: { name: 'test_simple_prompt', description: 'Says something.' },
      messages: () => [textMessage('This is a simple prompt for testing.')],
    },
    {
      definition: {
        name: 'test_prompt_with_arguments',
        description: 'Says what it is given.',
        arguments: requiredArguments('arg1', 'arg2'),
      },
      messages: ({ arg1, arg2 }) => [textMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
      completion: {
        argument: 'arg1',
        operation: completing,
        input: {},
        values: () => ({ values: [{ value: 'testing', label: '' }], hasMore: false }),
      },
    },
    {
      definition: {
        name: 'test_prompt_with_embedded_resource',
        description: 'Shows a resource.',
        arguments: requiredArguments('resourceUri'),
      },
      messages: ({ resourceUri = '' }) => [
        contentMessage({
          type: 'resource',
          resource: {
            uri: resourceUri,
            mimeType: 'text/plain',
            text: 'Embedded resource content for testing.',
          },
        }),
        textMessage('Please process the embedded resource above.'),
      ],
    },
    {
      definition: { name: 'test_prompt_with_image', description: 'Shows an image.' },
      messages: () => [
        contentMessage({ type: 'image', data: onePixelPng, mimeType: 'image/png' }),
        textMessage('Please analyze the image above.'),
      ],
    },
  ];
}

function textMessage(words: string): PromptMessage {
  return contentMessage({ type: 'text', text: words });
}

function contentMessage(content: PromptMessage['content']): PromptMessage {
  return { role: 'user', content };
}
