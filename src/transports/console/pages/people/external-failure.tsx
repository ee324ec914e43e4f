import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import type { ExternalOutcome } from '../../../../services/people/external-identities.ts';
import { Card, Heading } from '../../components/content.tsx';
import { Actions, ButtonLink } from '../../components/form.tsx';
import type { ShownPage } from '../../route.ts';

export type ExternalReason = Extract<ExternalOutcome, { outcome: 'failed' }>['reason'];

/** The page for each failure of external sign-in. `name` is the name of the provider. */
const reasons: Record<ExternalReason, (name: string) => { status: number; title: string; text: string }> = {
  declined: (name) => ({
    status: 403,
    title: 'You are not signed in',
    text: `You did not give your consent at ${name}. Nothing was changed.`,
  }),
  unavailable: (name) => ({
    status: 503,
    title: `${name} does not answer`,
    text: 'The provider is unavailable. Try again in a few minutes.',
  }),
  invalid: (name) => ({
    status: 400,
    title: 'Invalid response',
    text: `The response from ${name} is invalid. Nothing was changed. Try again. If it fails again, contact the operator of this service.`,
  }),
  expired: () => ({
    status: 400,
    title: 'This sign-in has expired',
    text: 'It took too long, is already finished, or was started in another browser. Start again.',
  }),
  taken: (name) => ({
    status: 409,
    title: 'Already connected with another account',
    text: `This ${name} account is already connected with another account here. Nothing was changed.`,
  }),
  other_person: () => ({
    status: 403,
    title: 'A different person is signed in',
    text: 'You signed out or signed in to another account in the meantime. Nothing was connected.',
  }),
  closed: (name) => ({
    status: 403,
    title: 'No connected account',
    text: `No account is connected with this ${name} account, and sign-up is closed. If you have an account, sign in with your password, then connect it with ${name}.`,
  }),
};

/** The page for a failed external sign-in. */
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
              Go to your account
            </ButtonLink>
          ) : (
            <ButtonLink href="/sign-in" kind="primary">
              Go to sign-in
            </ButtonLink>
          )}
        </Actions>
      </Card>
    </>
  );
  return { title, body, status, shell: 'focus', ...(reason === 'unavailable' && { retry_after: 60 }) };
}
