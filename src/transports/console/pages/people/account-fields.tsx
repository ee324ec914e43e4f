import { maxDisplayNameLength } from '../../../../services/people/display-names.ts';
import { passwordLength } from '../../../../services/people/passwords.ts';
import { ButtonLink, Form } from '../../components/form.tsx';
import { type FieldDefinition, secretField, textField } from '../../define/fields.tsx';

/** The fields of a new account besides the password. */
export function newAccountFields(needsInvitation: boolean) {
  return {
    ...(needsInvitation && {
      invitation: textField('Invitation code', 'New accounts need an invitation.', {
        plain: true,
        required: true,
      }),
    }),
    username: name('Username', 'The handles of your agents start with it. It cannot be changed later.', {
      autocomplete: 'username',
    }),
  };
}

/** A part of a handle, which is checked as it was entered. */
export function name(
  label: string,
  permanenceHint: string,
  given: { autocomplete?: string; prefix?: string } = {},
): FieldDefinition<string> {
  const hint = `Lowercase letters, digits, - and _. ${permanenceHint}`;
  const field = textField(label, hint, { ...given, maxlength: 32, plain: true, required: true });
  return { ...field, read: (form, entered) => form.get(entered) ?? '' };
}

/** A new password. @param hint follows the minimum length */
export function newPassword(label: string, hint: string): FieldDefinition<string> {
  const { min, max } = passwordLength;
  const length = { minlength: min, maxlength: max };
  return secretField(label, `At least ${min} characters. ${hint}`, {
    ...length,
    autocomplete: 'new-password',
  });
}

/** The display name of a person or an organization. */
export function displayName(hint: string): FieldDefinition<string> {
  return textField('Display name', hint, { maxlength: maxDisplayNameLength, plain: true });
}

/** Who decides on this page, and the way to decide as somebody else. @param to the page */
export function SignedInAs({ username, to }: { username: string; to: string }) {
  return (
    <div>
      Signed in as <strong>{username}</strong>.{' '}
      <Form action="/sign-out" class="inline" hidden={{ to }}>
        <button class="link" type="submit">
          Not you?
        </button>
      </Form>
    </div>
  );
}

/** A link to sign in through the external provider and return to `to`. */
export function ExternalLink({ name: provider, to }: { name: string; to: string }) {
  return (
    <>
      <p class="or">or</p>
      <ButtonLink href={`/sign-in/external?${new URLSearchParams({ to }).toString()}`} wide>
        Continue with {provider}
      </ButtonLink>
    </>
  );
}
