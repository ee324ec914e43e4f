import { createHash } from 'node:crypto';
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
    .option(
      '--key <key>',
      'idempotency key: the same key sends only once, also after a failure; to a handle, in a new thread',
    )
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
  const { subject, key, replyTo: reply_to, replaces } = options;
  const isNew = options.new === true || subject !== undefined;
  if (isThreadId(target) && isNew)
    throw new CommandError('--new and --subject are for a handle, not for a thread', exitCodes.usage);
  // A key belongs to one path, and the latest thread can be another one at the next call.
  const opensThread = isNew || key !== undefined;
  const latest = isThreadId(target) || opensThread ? undefined : await findThreadWith(client, target);
  const thread_id = isThreadId(target) ? target : latest;
  if (thread_id === undefined && (reply_to !== undefined || replaces !== undefined))
    throw new CommandError(
      '--reply-to and --replaces are for a thread that exists: give its id',
      exitCodes.usage,
    );
  const message = {
    content,
    attachment_ids: await uploadFiles(client, target, options),
    ...(options.markdown && { content_type: 'markdown' as const }),
  };
  const callOptions = { idempotencyKey: key };
  if (thread_id !== undefined)
    return client.messages.send({ thread_id, ...message, reply_to, replaces }, callOptions);
  const thread = await client.threads.create(
    { with_handle: target, subject, initial_message: message },
    callOptions,
  );
  const page = await client.messages.list({ thread_id: thread.id, order: 'asc', limit: 1 }).page();
  const [first] = page.messages;
  if (!first) throw new Error('a thread with a first message has that message');
  return first;
}

/** Uploads the files of a message. With a key, a repeated command gets the same uploads, so the message is the same too. */
async function uploadFiles(client: Client, target: string, { attach = [], key }: Options): Promise<string[]> {
  const files = await Promise.all(
    attach.map((path, index) => {
      const seed = JSON.stringify([key, target, index]);
      const idempotencyKey = key && createHash('sha256').update(seed).digest('hex');
      return client.attachments.upload(path, { idempotencyKey });
    }),
  );
  return files.map(({ id }) => id);
}
