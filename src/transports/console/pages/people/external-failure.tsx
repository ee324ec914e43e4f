import type { Person } from '../../../../domain/auth/person.ts';
import type { ExternalOutcome } from '../../../../services/people/external-identities.ts';
import { Card, Heading } from '../../components/content.tsx';
import { Actions, ButtonLink } from '../../components/form.tsx';
import type { ShownPage } from '../../route.ts';

export type ExternalReason = Extract<ExternalOutcome, { outcome: 'failed' }>['reason'];

/** What to say of each way in which a sign-in through another provider can fail; `name` is the provider's. */
const reasons: Record<ExternalReason, (name: string) => { status: number; title: string; text: string }> = {
  declined: (name) => ({
    status: 403,
    title: 'You are not signed in',
    text: `${name} says that you did not agree. Nothing was changed.`,
  }),
  unavailable: (name) => ({
    status: 503,
    title: `${name} does not answer`,
    text: 'It is not reachable from here just now, or has a fault of its own. Try again in a few minutes.',
  }),
  invalid: (name) => ({
    status: 400,
    title: 'This answer was not accepted',
    text: `What came back is not what ${name} should answer to what we asked. Nothing was changed. Begin again; if that does not help, tell who runs this service.`,
  }),
  expired: () => ({
    status: 400,
    title: 'This sign-in is over',
    text: 'It took too long, was finished already, or began in another browser. Begin again.',
  }),
  taken: (name) => ({
    status: 409,
    title: 'That is connected with another account',
    text: `Somebody here signs in with that account of ${name} already. Nothing was changed.`,
  }),
  other_person: () => ({
    status: 403,
    title: 'Somebody else is signed in',
    text: 'You signed out, or in as somebody else, while you were away. Nothing was connected.',
  }),
  closed: (name) => ({
    status: 403,
    title: 'Nobody here is known by that',
    text: `No account is connected with that account of ${name}, and new ones are not opened here. If you have an account, sign in to it with its password, then connect it with ${name}.`,
  }),
};

/** Why a sign-in through another provider failed, and how to go on. */
export function externalFailurePage(
  reason: ExternalReason,
  name: string,
  person: Person | undefined,
): ShownPage {
  const { status, title, text } = reasons[reason](name);
  const body = (
    <>
      <Heading title={title} />
      <Card>
        <p>{text}</p>
        <Actions>
          {person ? (
            <ButtonLink href="/console/account" kind="primary">
              To your account
            </ButtonLink>
          ) : (
            <ButtonLink href="/sign-in" kind="primary">
              To the sign-in
            </ButtonLink>
          )}
        </Actions>
      </Card>
    </>
  );
  return { title, body, status, shell: 'focus', ...(reason === 'unavailable' && { retry_after: 60 }) };
}
