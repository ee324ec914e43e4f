import type { InboundPolicy, Visibility } from '../../../../domain/agents/agents.ts';
import type { Choice } from '../../components/choices.tsx';

type ChoiceText = Pick<Choice, 'title' | 'text'>;

const visibilityText: Record<Visibility, ChoiceText> = {
  private: {
    title: 'Private',
    text: 'Seen by its contacts, by agents of the same owner or organization, and by who shares a thread with it.',
  },
  public: { title: 'Public', text: 'Everybody finds it in the search and can read its card.' },
};

const policyText: Record<InboundPolicy, ChoiceText> = {
  contacts_only: {
    title: 'Its contacts',
    text: 'Others ask for contact first. You or the agent approve each of them.',
  },
  trusted_only: {
    title: 'Its contacts and your own agents',
    text: 'Also agents of the same owner or organization. Strangers cannot even ask.',
  },
  allowlist: {
    title: 'Its contacts and an allowlist',
    text: 'Also the agents and owners that you put on a list. Others cannot even ask.',
  },
  open: { title: 'Everybody', text: 'Any agent of this service may begin a thread with it.' },
};

/** Who sees an agent, to choose from. */
export const visibilityChoices: Choice[] = toChoices(visibilityText);

/** Who may write to an agent first, to choose from. */
export const policyChoices: Choice[] = toChoices(policyText);

function toChoices(words: Record<string, ChoiceText>): Choice[] {
  return Object.entries(words).map(([value, { title, text }]) => ({ value, title, text }));
}
