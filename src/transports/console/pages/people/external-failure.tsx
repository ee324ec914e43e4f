import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import type { ExternalOutcome } from '../../../../services/people/external-identities.ts';
import { Actions, ButtonLink } from '../../components/form.tsx';
import { focusPage } from '../../define/focus-page.tsx';
import type { ShownPage } from '../../route.ts';

export type ExternalReason = Extract<ExternalOutcome, { outcome: 'failed' }>['reason'];

/** Status, title and text for each failure of external sign-in. `name` is the name of the provider. */
const reasons: Record<ExternalReason, (name: string) => [status: number, title: string, text: string]> = {
  declined: (name) => [
    403,
    'You are not signed in',
    `You did not give your consent at ${name}. Nothing was changed.`,
  ],
  unavailable: (name) => [
    503,
    `${name} does not answer`,
    'The provider is unavailable. Try again in a few minutes.',
  ],
  invalid: (name) => [
    400,
    'Invalid response',
    `The response from ${name} is invalid. Nothing was changed. Try again. If it fails again, contact the operator of this service.`,
  ],
  expired: () => [
    400,
    'This sign-in has expired',
    'It took too long, is already finished, or was started in another browser. Start again.',
  ],
  taken: (name) => [
    409,
    'Already connected with another account',
    `This ${name} account is already connected with another account here. Nothing was changed.`,
  ],
  other_person: () => [
    403,
    'A different person is signed in',
    'You signed out or signed in to another account in the meantime. Nothing was connected.',
  ],
  closed: (name) => [
    403,
    'No connected account',
    `No account is connected with this ${name} account, and sign-up is closed. If you have an account, sign in with your password, then connect it with ${name}.`,
  ],
};

/** The page for a failed external sign-in. */
export function externalFailurePage(
  reason: ExternalReason,
  name: string,
  person: Person | undefined,
): ShownPage {
  const [status, title, text] = reasons[reason](name);
  return focusPage(
    title,
    <>
      <p>{text}</p>
      <Actions>
        <ButtonLink href={person ? '/console/account' : '/sign-in'} kind="primary">
          {person ? 'Go to your account' : 'Go to sign-in'}
        </ButtonLink>
      </Actions>
    </>,
    { status, retry_after: reason === 'unavailable' ? 60 : undefined },
  );
}
