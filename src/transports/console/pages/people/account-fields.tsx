import { ButtonLink } from '../../components/form.tsx';
import type { ComponentChildren } from 'preact';
import { passwordLength } from '../../../../services/people/passwords.ts';
import { Field } from '../../components/field.tsx';
import { NameField } from '../../components/name-field.tsx';

interface NewAccountFieldsProps {
  /** Whether accounts are opened by invitation only. */
  needsInvitation: boolean;
  username: string | undefined;
  invitation: string | undefined;
  errors: Readonly<Record<string, string>>;
}

/** What somebody says who opens an account, whatever proves who they are. */
export function NewAccountFields({ needsInvitation, username, invitation, errors }: NewAccountFieldsProps) {
  return (
    <>
      {needsInvitation && (
        <Field
          name="invitation"
          label="Invitation code"
          hint="Accounts are opened by invitation here."
          value={invitation}
          error={errors['invitation']}
          plain
          required
        />
      )}
      <NameField
        name="username"
        label="Username"
        permanenceHint="Your agents' handles begin with it, and it cannot be changed."
        value={username}
        error={errors['username']}
        autocomplete="username"
      />
    </>
  );
}

interface NewPasswordFieldProps {
  name: string;
  label: string;
  /** Goes on behind how long it must be. */
  hint: ComponentChildren;
  error: string | undefined;
}

/** A password that somebody chooses. */
export function NewPasswordField({ name, label, hint, error }: NewPasswordFieldProps) {
  const { min, max } = passwordLength;
  return (
    <Field
      name={name}
      label={label}
      type="password"
      hint={
        <>
          {min} characters or more. {hint}
        </>
      }
      error={error}
      autocomplete="new-password"
      minlength={min}
      maxlength={max}
      required
    />
  );
}

/** The way to sign in through another provider, and to come back to `to`. */
export function ExternalLink({ name, to }: { name: string; to: string }) {
  return (
    <>
      <p class="or">or</p>
      <ButtonLink href={`/sign-in/external?${new URLSearchParams({ to }).toString()}`} wide>
        Continue with {name}
      </ButtonLink>
    </>
  );
}
