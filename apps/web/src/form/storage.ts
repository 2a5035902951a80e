import { createTabStorage } from "@formbridge/form";

/** What was typed and not confirmed, until it is: in this browser, for this tab. */
export const editStorage = createTabStorage({
  storage: () => localStorage,
  locks: navigator.locks,
  onChange(changed) {
    const onStorage = ({ key }: StorageEvent) => {
      if (key !== null) changed(key);
    };
    addEventListener("storage", onStorage);
    return () => removeEventListener("storage", onStorage);
  },
});
