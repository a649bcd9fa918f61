/* SPDX-License-Identifier: MIT */
/* The effect of each system call on files; included by calls.c. Calls that some architectures lack
 * are within an #ifdef. */
KNOWN(openat, OPENS), KNOWN(pwrite64, WRITES), KNOWN(write, STREAMS), KNOWN(writev, STREAMS),
    KNOWN(ftruncate, RESIZES), KNOWN(fsync, SYNCS), KNOWN(fdatasync, SYNCS), KNOWN(mmap, MAPS),
    KNOWN(mkdirat, MAKES),
#ifdef __NR_renameat
    KNOWN(renameat, RENAMES),
#endif
    KNOWN(renameat2, RENAMES), KNOWN(unlinkat, REMOVES), KNOWN(sync_file_range, HARMLESS),
    KNOWN(fadvise64, HARMLESS), KNOWN(pwritev, FORBIDDEN), KNOWN(pwritev2, FORBIDDEN),
    KNOWN(fallocate, FORBIDDEN), KNOWN(truncate, FORBIDDEN), KNOWN(copy_file_range, FORBIDDEN),
    KNOWN(sendfile, FORBIDDEN), KNOWN(splice, FORBIDDEN), KNOWN(vmsplice, FORBIDDEN),
    KNOWN(tee, FORBIDDEN), KNOWN(linkat, FORBIDDEN), KNOWN(symlinkat, FORBIDDEN),
    KNOWN(mknodat, FORBIDDEN), KNOWN(openat2, FORBIDDEN), KNOWN(io_uring_setup, FORBIDDEN),
    KNOWN(io_uring_enter, FORBIDDEN), KNOWN(io_submit, FORBIDDEN), KNOWN(fsetxattr, FORBIDDEN),
    KNOWN(setxattr, FORBIDDEN),
#ifdef __NR_open
    KNOWN(open, FORBIDDEN),
#endif
#ifdef __NR_creat
    KNOWN(creat, FORBIDDEN),
#endif
#ifdef __NR_mkdir
    KNOWN(mkdir, FORBIDDEN),
#endif
#ifdef __NR_rename
    KNOWN(rename, FORBIDDEN),
#endif
#ifdef __NR_unlink
    KNOWN(unlink, FORBIDDEN),
#endif
#ifdef __NR_rmdir
    KNOWN(rmdir, FORBIDDEN),
#endif
#ifdef __NR_link
    KNOWN(link, FORBIDDEN),
#endif
#ifdef __NR_symlink
    KNOWN(symlink, FORBIDDEN),
#endif
    KNOWN(mount, FORBIDDEN), KNOWN(execve, FORBIDDEN), KNOWN(execveat, FORBIDDEN),
#ifdef __NR_remap_file_pages
    KNOWN(remap_file_pages, FORBIDDEN),
#endif
    KNOWN(open_by_handle_at, FORBIDDEN), KNOWN(read, HARMLESS), KNOWN(setitimer, HARMLESS),
#ifdef __NR_alarm
    KNOWN(alarm, HARMLESS),
#endif
    KNOWN(pread64, HARMLESS), KNOWN(readv, HARMLESS), KNOWN(preadv, HARMLESS),
    KNOWN(preadv2, HARMLESS), KNOWN(close, HARMLESS),
#ifdef __NR_close_range
    KNOWN(close_range, HARMLESS),
#endif
    KNOWN(fstat, HARMLESS),
#ifdef __NR_newfstatat
    KNOWN(newfstatat, HARMLESS),
#endif
    KNOWN(statx, HARMLESS), KNOWN(lseek, HARMLESS), KNOWN(munmap, HARMLESS),
    KNOWN(mprotect, HARMLESS), KNOWN(mremap, HARMLESS), KNOWN(madvise, HARMLESS),
    KNOWN(brk, HARMLESS), KNOWN(msync, HARMLESS), KNOWN(mincore, HARMLESS), KNOWN(fcntl, HARMLESS),
    KNOWN(flock, HARMLESS), KNOWN(getdents64, HARMLESS), KNOWN(dup, HARMLESS),
    KNOWN(dup3, HARMLESS), KNOWN(pipe2, HARMLESS), KNOWN(eventfd2, HARMLESS),
    KNOWN(ioctl, HARMLESS), KNOWN(faccessat, HARMLESS),
#ifdef __NR_faccessat2
    KNOWN(faccessat2, HARMLESS),
#endif
    KNOWN(readlinkat, HARMLESS), KNOWN(statfs, HARMLESS), KNOWN(fstatfs, HARMLESS),
    KNOWN(getcwd, HARMLESS), KNOWN(chdir, HARMLESS), KNOWN(fchdir, HARMLESS),
    KNOWN(umask, HARMLESS), KNOWN(futex, HARMLESS), KNOWN(set_robust_list, HARMLESS),
    KNOWN(get_robust_list, HARMLESS),
#ifdef __NR_rseq
    KNOWN(rseq, HARMLESS),
#endif
    KNOWN(set_tid_address, HARMLESS), KNOWN(clone, HARMLESS),
#ifdef __NR_clone3
    KNOWN(clone3, HARMLESS),
#endif
    KNOWN(exit, HARMLESS), KNOWN(exit_group, HARMLESS), KNOWN(wait4, HARMLESS),
    KNOWN(kill, HARMLESS), KNOWN(tkill, HARMLESS), KNOWN(tgkill, HARMLESS),
    KNOWN(rt_sigaction, HARMLESS), KNOWN(rt_sigprocmask, HARMLESS), KNOWN(rt_sigreturn, HARMLESS),
    KNOWN(rt_sigtimedwait, HARMLESS), KNOWN(sigaltstack, HARMLESS), KNOWN(getpid, HARMLESS),
    KNOWN(gettid, HARMLESS), KNOWN(getppid, HARMLESS), KNOWN(getuid, HARMLESS),
    KNOWN(geteuid, HARMLESS), KNOWN(getgid, HARMLESS), KNOWN(getegid, HARMLESS),
    KNOWN(clock_gettime, HARMLESS), KNOWN(clock_getres, HARMLESS), KNOWN(clock_nanosleep, HARMLESS),
    KNOWN(nanosleep, HARMLESS), KNOWN(gettimeofday, HARMLESS), KNOWN(sched_yield, HARMLESS),
    KNOWN(sched_getaffinity, HARMLESS), KNOWN(sched_setaffinity, HARMLESS),
    KNOWN(sched_getparam, HARMLESS), KNOWN(sched_getscheduler, HARMLESS),
    KNOWN(prlimit64, HARMLESS),
#ifdef __NR_getrlimit
    KNOWN(getrlimit, HARMLESS),
#endif
    KNOWN(sysinfo, HARMLESS), KNOWN(uname, HARMLESS), KNOWN(getrandom, HARMLESS),
    KNOWN(prctl, HARMLESS),
#ifdef __NR_arch_prctl
    KNOWN(arch_prctl, HARMLESS),
#endif
    KNOWN(membarrier, HARMLESS), KNOWN(getcpu, HARMLESS), KNOWN(restart_syscall, HARMLESS),
    KNOWN(ppoll, HARMLESS),
#ifdef __NR_poll
    KNOWN(poll, HARMLESS),
#endif
    KNOWN(epoll_create1, HARMLESS), KNOWN(epoll_ctl, HARMLESS), KNOWN(epoll_pwait, HARMLESS),
    KNOWN(memfd_create, HARMLESS), KNOWN(times, HARMLESS), KNOWN(getrusage, HARMLESS),
    KNOWN(personality, HARMLESS), KNOWN(mlock, HARMLESS), KNOWN(set_mempolicy, HARMLESS),
    KNOWN(get_mempolicy, HARMLESS),
#ifdef __NR_stat
    KNOWN(stat, HARMLESS),
#endif
#ifdef __NR_lstat
    KNOWN(lstat, HARMLESS),
#endif
#ifdef __NR_access
    KNOWN(access, HARMLESS),
#endif
#ifdef __NR_readlink
    KNOWN(readlink, HARMLESS),
#endif
#ifdef __NR_dup2
    KNOWN(dup2, HARMLESS),
#endif
#ifdef __NR_pipe
    KNOWN(pipe, HARMLESS),
#endif
#ifdef __NR_select
    KNOWN(select, HARMLESS),
#endif
    KNOWN(pselect6, HARMLESS),
#ifdef __NR_time
    KNOWN(time, HARMLESS),
#endif
