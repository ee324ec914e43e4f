import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import type { Conversation } from '../../../../services/threads/conversations.ts';
import { markConversation, markNames } from '../../../../services/threads/marks.ts';
import { Button, Form } from '../../components/form.tsx';
import { action } from '../../route.ts';
import { conversationAddress, conversationsAddress } from './filters.tsx';

const texts = {
  done: { text: 'Done. It comes back with the next message.', undo: 'open' },
  open: { text: 'Open again.', undo: 'done' },
  mute: { text: 'Muted. Its messages do not notify you.', undo: 'unmute' },
  unmute: { text: 'No longer muted.', undo: 'mute' },
} as const;

interface MarkButtonsProps {
  conversation: Conversation;
  title: string;
  /** The page to return to. Absent: a conversation that is done leads to the list. */
  address?: string;
}

/** The buttons with which a person is done with a conversation, or mutes it. */
export function MarkButtons({ conversation, title, address }: MarkButtonsProps) {
  const { id, last_sequence, done, muted } = conversation;
  const about = <span class="visually-hidden">: {title}</span>;
  const hidden = { sequence: String(last_sequence), return_to: address };
  return (
    <Form action={`${conversationAddress(id)}/mark`} class="marks" hidden={hidden} redirects>
      <Button kind="quiet" name="mark" value={done ? 'open' : 'done'}>
        {done ? 'Not done' : 'Done'}
        {about}
      </Button>
      <Button kind="quiet" name="mark" value={muted ? 'unmute' : 'mute'}>
        {muted ? 'Unmute' : 'Mute'}
        {about}
      </Button>
    </Form>
  );
}

/** Marks a conversation for the person. The notice takes it back. */
export const markAction = action(
  `${conversationsAddress}/:id/mark`,
  async ({ params: { id: thread_id = '' }, person, form, write }) => {
    const mark = markNames.find((name) => name === form.get('mark'));
    const sequence = Number(form.get('sequence') ?? '');
    if (!mark || !Number.isSafeInteger(sequence) || sequence < 0)
      throw new DomainError('VALIDATION_ERROR', 'Press one of the buttons of a conversation.');
    await write(markConversation, person.account_id, { thread_id, mark, sequence });
    const address = conversationAddress(thread_id);
    const { text, undo } = texts[mark];
    const hidden = {
      mark: undo,
      sequence: String(sequence),
      return_to: form.get('return_to') ?? address,
    };
    return {
      to: mark === 'done' ? conversationsAddress : address,
      flash: text,
      undo: { action: `${address}/mark`, hidden },
    };
  },
);
