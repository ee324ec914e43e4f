import type { MessageRecord } from './message.ts';

/** Longest text in a short form, in characters. */
const maxWords = 200;

/** The first words of a text; … marks where it continues. */
export function firstWords(text: string, max = maxWords): string {
  // Counted in characters, so that none is cut in two. None has more than two units.
  const characters = Array.from(text.slice(0, 2 * (max + 1)));
  return characters.length <= max ? text : `${characters.slice(0, max).join('')}…`;
}

/** What a model needs to know of a message before it reads it: who, when, the first words, and what is out of the ordinary. */
export function shortMessage({ id, thread_id, sender, content, sequence, ...more }: MessageRecord) {
  const words = firstWords(content);
  return {
    id,
    thread_id,
    sender: { canonical_handle: sender.canonical_handle },
    sequence,
    content: words,
    ...(words !== content && { truncated: true as const }),
    ...(more.attachments.length > 0 && {
      attachments: more.attachments.map(({ id: file, filename }) => ({ id: file, filename })),
    }),
    ...(more.reply_to !== null && { reply_to: more.reply_to }),
    ...(more.written_by !== 'agent' && { written_by: more.written_by }),
  };
}
