import { Command } from 'commander';
import type { Client, Message } from '../../main.ts';
import { createContext } from '../context.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { CommandIo } from '../io.ts';
import { findThreadWith, isThreadId } from '../options.ts';
import { readInput } from '../read-input.ts';

interface Options {
  attach?: string[];
  subject?: string;
  markdown?: true;
  replyTo?: string;
  replaces?: string;
  new?: true;
  key?: string;
}

/** `am send HANDLE|THREAD [text|-]` */
export function sendCommand(io: CommandIo): Command {
  return new Command('send')
    .description('send a message to an agent or in a thread')
    .argument('<target>', 'handle of an agent, or id of a thread')
    .argument('[text]', 'the message; - reads it from standard input')
    .option('--attach <file...>', 'files to send with it, at most 5')
    .option('--subject <text>', 'open a new thread with this subject')
    .option('--new', 'open a new thread, even if there is one with the agent')
    .option('--markdown', 'the text is Markdown')
    .option('--reply-to <message>', 'id of a message in the thread')
    .option('--replaces <message>', 'id of a message of yours in the thread, which this one replaces')
    .option('--key <key>', 'idempotency key: the same key sends only once, also after a failure')
    .addHelpText(
      'after',
      '\nExamples:\n  $ am send globex.support "Where is order 1042?"\n  $ git diff | am send acme.reviewer - --subject "Please review"\n  $ am send thd_01K… "See the file." --attach report.pdf',
    )
    .action(async (target: string, text: string | undefined, options: Options, command: Command) => {
      const { client, output } = createContext(io, command);
      const content = text === '-' ? await readInput(io) : (text ?? '');
      if (content === '' && !options.attach)
        throw new CommandError(
          'there is no text: give it as an argument, or - for standard input',
          exitCodes.usage,
        );
      const message = await send(await client(), target, content, options);
      output.show(message, () => `sent ${message.id} in ${message.thread_id} as #${message.sequence}`);
    });
}

async function send(client: Client, target: string, content: string, options: Options): Promise<Message> {
  const { subject, key } = options;
  const isNew = options.new === true || subject !== undefined;
  if (isThreadId(target) && isNew)
    throw new CommandError('--new and --subject are for a handle, not for a thread', exitCodes.usage);
  const files = await Promise.all((options.attach ?? []).map((path) => client.attachments.upload(path)));
  const fields = {
    content,
    attachment_ids: files.map(({ id }) => id),
    ...(options.markdown && { content_type: 'markdown' as const }),
  };
  const callOptions = key === undefined ? {} : { idempotencyKey: key };
  const thread_id = isThreadId(target) ? target : isNew ? undefined : await findThreadWith(client, target);
  if (thread_id !== undefined) {
    const { replyTo: reply_to, replaces } = options;
    const others = {
      ...(reply_to !== undefined && { reply_to }),
      ...(replaces !== undefined && { replaces }),
    };
    return client.messages.send({ thread_id, ...fields, ...others }, callOptions);
  }
  if (options.replaces !== undefined)
    throw new CommandError('--replaces is for a thread that exists', exitCodes.usage);
  const { message } = await client.threads.askAgent(
    { with_handle: target, ...(subject !== undefined && { subject }), ...fields, wait_seconds: 0 },
    callOptions,
  );
  return message;
}
