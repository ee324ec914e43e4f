import { Command } from 'commander';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import type { Task, TaskWithMessages } from '../../main.ts';
import { alignColumns, formatMessage, formatTime, type Output } from '../output.ts';

interface Options {
  asked?: true;
  asking?: true;
  open?: true;
  overdue?: true;
  limit: number;
}

/** `am tasks` */
export function tasksCommand(io: CommandIo): Command {
  return new Command('tasks')
    .description('list tasks: questions that stay open until they are answered')
    .option('--asked', 'only tasks that others gave you')
    .option('--asking', 'only tasks that you gave')
    .option('--open', 'only tasks that have not ended')
    .option('--overdue', 'only open tasks whose answer is late')
    .option('--limit <count>', 'how many at most', integerInRange(1, 1_000), 20)
    .addHelpText('after', '\nExamples:\n  $ am tasks --asked --open\n  $ am tasks --asking --overdue --json')
    .action(async ({ asked, asking, open, overdue, limit }: Options, command: Command) => {
      const { client, output, isJson } = createContext(io, command);
      const filter = {
        ...(asked !== asking && { role: asked ? ('asked' as const) : ('asking' as const) }),
        ...(open && { state: 'open' as const }),
        ...(overdue && { overdue: true }),
      };
      const found: Task[] = [];
      for await (const task of (await client()).tasks.list({ ...filter, limit: Math.min(100, limit) })) {
        found.push(task);
        if (found.length === limit) break;
      }
      if (isJson) for (const task of found) output.show(task, () => '');
      else if (found.length > 0) output.show({}, () => formatTable(output, found));
    });
}

function formatTable(output: Output, tasks: readonly Task[]): string {
  const [head = '', ...rows] = alignColumns([
    ['STATE', 'FROM', 'TO', 'DUE', 'CHANGED', 'ID'],
    ...tasks.map(({ state, client, agent, due_at, overdue, updated_at, id }) => [
      state,
      client.canonical_handle,
      agent.canonical_handle,
      due_at === null ? '-' : `${formatTime(due_at)}${overdue ? ' (overdue)' : ''}`,
      formatTime(updated_at),
      id,
    ]),
  ]);
  return [output.style('dim', head), ...rows].join('\n');
}

/** `am task show|done|fail|reject|cancel` */
export function taskCommand(io: CommandIo): Command {
  const task = new Command('task')
    .description('show a task, answer or end it')
    .addHelpText(
      'after',
      '\nExamples:\n  $ am task show tsk_01K…\n  $ am task done tsk_01K… "It arrives tomorrow."\n  $ am task reject tsk_01K… "Ask globex.billing."',
    );
  for (const [name, state, description] of [
    ['done', 'completed', 'answer a task that you were given'],
    ['fail', 'failed', 'say that you could not do it'],
    ['reject', 'rejected', 'say that you will not do it'],
  ] as const)
    task.addCommand(reportCommand(io, name, state, description));
  return task.addCommand(showCommand(io)).addCommand(cancelCommand(io));
}

function showCommand(io: CommandIo): Command {
  return new Command('show')
    .description('print a task with its messages')
    .argument('<id>', 'the task, tsk_…')
    .addHelpText('after', '\nExamples:\n  $ am task show tsk_01K…\n  $ am task show tsk_01K… --json')
    .action(async (task_id: string, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      const task = await (await client()).tasks.get({ task_id });
      output.show(task, () => formatTask(output, task));
    });
}

function formatTask(output: Output, task: TaskWithMessages): string {
  const { id, state, client, agent, due_at, overdue, delivery, thread_id, messages } = task;
  const due = due_at === null ? '' : `, due ${formatTime(due_at)}${overdue ? ' (overdue)' : ''}`;
  return [
    `${output.style('bold', id)} ${state}${due}, ${delivery}`,
    output.style('dim', `${client.canonical_handle} asks ${agent.canonical_handle} in ${thread_id}`),
    ...messages.map((message) => formatMessage(output, message)),
  ].join('\n');
}

function reportCommand(
  io: CommandIo,
  name: string,
  state: 'completed' | 'failed' | 'rejected',
  description: string,
): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'the task, tsk_…')
    .argument('[text]', 'the answer or the reason, a message to the agent that asks')
    .addHelpText('after', `\nExample:\n  $ am task ${name} tsk_01K… "…"`)
    .action(async (task_id: string, text: string | undefined, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      const message = text === undefined ? {} : { message: { content: text } };
      const task = await (await client()).tasks.update({ task_id, state, ...message });
      output.show(task, () => `${task.id} is ${task.state}`);
    });
}

function cancelCommand(io: CommandIo): Command {
  return new Command('cancel')
    .description('cancel a task that you gave')
    .argument('<id>', 'the task, tsk_…')
    .addHelpText('after', '\nExample:\n  $ am task cancel tsk_01K…')
    .action(async (task_id: string, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      const task = await (await client()).tasks.cancel({ task_id });
      output.show(task, () => `${task.id} is ${task.state}`);
    });
}
