import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Exchange } from '../../../src/transports/mcp/protocol/exchange.ts';
import type { Tool } from '../../../src/transports/mcp/tools/tools.ts';
import { defineInteractiveFixture, definePlainFixture, textContent } from './define-fixture.ts';
import { storeTask } from './file-tasks.ts';
import { answersTo, form } from './multi-round-tools.ts';

const looseSchema = { type: 'object' as const, properties: {} };

/** The tools of the suite whose calls continue as tasks. */
export const taskTools: readonly Tool[] = [
  definePlainFixture(
    { name: 'greet', description: 'Greets.', properties: { name: { type: 'string' } } },
    ({ name }) => [textContent(`Hello, ${String(name)}!`)],
  ),
  defineInteractiveFixture(
    { name: 'slow_compute', description: 'Works for some seconds.', schema: looseSchema },
    async (exchange, { seconds }) => {
      if (exchange.defer && Number(seconds) > 0) await defer(exchange, 'Done.', { seconds: Number(seconds) });
      return [textContent('Done.')];
    },
  ),
  taskTool('failing_job', { seconds: 1, outcome: 'tool error' }),
  taskTool('protocol_error_job', { outcome: 'protocol error' }),
  taskTool('confirm_delete', { asks: ['confirmation'] }),
  taskTool('multi_input', { asks: ['first', 'second'] }),
  {
    ...defineInteractiveFixture(
      { name: 'test_tool_with_task', description: 'Asks, and continues as a task.' },
      async (exchange) => {
        const [answer] = await answersTo(exchange, [form('user_name', 'What is your name?', 'name')]);
        // A task that has ended already would be answered by its result.
        await defer(exchange, `Hello, ${JSON.stringify(answer)}.`, { seconds: 1 });
        return [];
      },
    ),
    needsTasks: true,
  },
];

function taskTool(name: string, options: Parameters<typeof storeTask>[1]): Tool {
  const tool = defineInteractiveFixture(
    { name, description: 'Continues as a task.', schema: looseSchema },
    async (exchange) => {
      await defer(exchange, `This is the outcome of ${name}.`, options);
      return [];
    },
  );
  return { ...tool, needsTasks: true };
}

/** Fails after it stored the task, as an operation does that continues elsewhere. */
async function defer(
  exchange: Exchange,
  text: string,
  options?: Parameters<typeof storeTask>[1],
): Promise<void> {
  exchange.defer?.(await storeTask(text, options));
  throw new DomainError('VALIDATION_ERROR', 'The call continues as a task.');
}
